#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The names of files: one form for all names of one file.
package enum FileName {
    /// How many symbolic links are followed, as the system does.
    private static let maximumLinkCount = 40

    /// The absolute path without symbolic links, `.` and `..`; the file and its folders may be missing.
    ///
    /// The file is neither opened nor created. A link that leads to a missing file is followed.
    ///
    /// - parameter path: has no NUL.
    package static func canonical(_ path: String) -> String {
        var path = path
        for _ in 0..<maximumLinkCount {
            if let resolved = resolved(path) { return resolved }
            let (folder, name) = split(path)
            let parent = folderPath(folder)
            guard let target = target(ofLink: join(parent, name)) else { return join(parent, name) }
            path = target.hasPrefix("/") ? target : join(parent, target)
        }
        return path
    }

    /// The path of a folder that may be missing: that of the nearest one that exists, and the rest of the names.
    private static func folderPath(_ path: String) -> String {
        var path = path
        var missing: [Substring] = []
        while true {
            if let resolved = resolved(path) {
                var names = resolved.split(separator: "/")
                for name in missing.reversed() {
                    switch name {
                    case ".": break
                    case "..": _ = names.popLast()
                    default: names.append(name)
                    }
                }
                return "/" + names.joined(separator: "/")
            }
            let (folder, name) = split(path)
            missing.append(Substring(name))
            // The current folder was removed.
            if folder == path { return missing.reversed().joined(separator: "/") }
            path = folder
        }
    }

    /// Whether a relative path leads to a file that was removed with its folder: the current one.
    package static func isInRemovedFolder(_ path: String) -> Bool { !path.hasPrefix("/") && resolved(".") == nil }

    /// The folder and the last name of a path. The folder of a name is `.`, that of the root the root.
    private static func split(_ path: String) -> (folder: String, name: String) {
        let path = path.drop(trailing: "/")
        guard let slash = path.lastIndex(of: "/") else { return (".", String(path)) }
        let folder = path[..<slash].drop(trailing: "/")
        return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
    }

    private static func join(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/" + name : folder + "/" + name
    }

    /// The corresponding C function is `realpath`.
    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// The corresponding C function is `readlink`.
    private static func target(ofLink path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
            let count = readlink(path, buffer.baseAddress!, Int(PATH_MAX))
            guard count > 0 else { return nil }
            buffer[count] = 0
            return String(cString: buffer.baseAddress!)
        }
    }

    /// Makes the missing folders of a path. The corresponding C function is `mkdir`.
    ///
    /// - returns: the path and the number of the error of a folder that can't be made; nil if all exist.
    static func createFolders(_ path: String) -> (path: String, number: CInt)? {
        var made = path.hasPrefix("/") ? "/" : ""
        for name in path.split(separator: "/") {
            made += made.isEmpty || made == "/" ? name : "/" + name
            guard mkdir(made, 0o777) != 0 else { continue }
            let number = errno
            if number == EEXIST { continue }
            var status = stat()
            // A folder that exists may lie where nothing can be made.
            if stat(made, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { continue }
            return (made, number)
        }
        return nil
    }
}

extension StringProtocol {
    fileprivate func drop(trailing character: Character) -> SubSequence {
        var end = endIndex
        while end > startIndex, self[index(before: end)] == character { end = index(before: end) }
        return self[..<end]
    }
}
