#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The kind of the file at a path.
package enum FileKind: String {
    /// A regular file, which may be a database, or a device.
    case file = "a file"
    case folder = "a folder"
    case pipe = "a pipe"
    case socket = "a socket"

    /// The kind of the file that SQLite would open as a database; nil if none exists.
    ///
    /// The corresponding C function is `stat`.
    ///
    /// - parameter path: a path, or a URI: <https://www.sqlite.org/uri.html>.
    init?(databasePath path: String) {
        var status = stat()
        // `withCString`: a string that is passed to C is copied, in two blocks.
        guard path != ":memory:", Self.filePath(path).withCString({ stat($0, &status) }) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .folder
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        default: self = .file
        }
    }

    /// A path that SQLite never takes for a URI, whatever options the library was built with: `./file:a` for `file:a`.
    package static func plainPath(_ path: String) -> String {
        path.utf8.starts(with: "file:".utf8) ? "./" + path : path
    }

    /// The path that a URI names; any other path unchanged.
    package static func filePath(_ path: String) -> String {
        guard path.utf8.starts(with: "file:".utf8) else { return path }
        var rest = Substring(path).utf8.dropFirst(5)
        if rest.starts(with: "//".utf8) { rest = rest.dropFirst(2).drop { $0 != UInt8(ascii: "/") } }
        rest = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let code = UInt8(String(Substring(digits)), radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
