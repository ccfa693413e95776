import Quarry
import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Copies of damaged files.
enum Quarantine {
    /// Paths beside a file: `players.sqlite.corrupt-20260131T120000Z`, and more, as several copies may be made in one
    /// second.
    private static func paths(for path: String) -> some Sequence<String> {
        var now = time(nil)
        var date = tm()
        gmtime_r(&now, &date)
        func digits(_ number: CInt, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = digits(date.tm_year + 1900, 4) + digits(date.tm_mon + 1) + digits(date.tm_mday)
        let second = digits(date.tm_hour) + digits(date.tm_min) + digits(date.tm_sec)
        let name = "\(path).corrupt-\(day)T\(second)Z"
        return (1...100).lazy.map { $0 == 1 ? name : "\(name)-\($0)" }
    }

    /// Copies a database with its log or journal, byte by byte. Parts that can't be read become zeros. After an error,
    /// nothing stays of the copy.
    ///
    /// The file is read through SQLite's file system: closing a descriptor of our own would release SQLite's locks.
    ///
    /// - returns: the path of the copy.
    static func copy(_ path: String, vfs: String?, _ files: FileOperations = FileOperations()) throws -> String {
        try BackupTarget.calling("quarantine of \(path)") {
            var exists: (any Error)?
            for target in paths(for: path) {
                do {
                    try copy(path, to: target, vfs, files)
                    return target
                } catch let failure as FileOperations.Failure where failure.number == EEXIST {
                    // Another process may be making its copy.
                    exists = failure
                }
            }
            throw exists ?? DatabaseError(resultCode: .SQLITE_CANTOPEN)
        }
    }

    private static func copy(_ path: String, to target: String, _ vfs: String?, _ files: FileOperations) throws {
        var made: [String] = []
        do {
            for (suffix, kind) in [("", DatabaseFileHandle.Kind.quarantined), ("-wal", .log), ("-journal", .journal)]
            where try suffix == "" || DatabaseFileHandle.exists(path + suffix, vfs: vfs) {
                let source = try SourceFile(path: path + suffix, kind: kind, vfs: vfs)
                let file = try files.create(target + suffix, permissions: 0o600)
                made.append(target + suffix)
                try copy(source, to: file, target + suffix, files)
            }
            try files.syncFolder(target.lastIndex(of: "/").map { String(target[...$0]) } ?? ".")
        } catch {
            for path in made { try? files.remove(path) }
            throw error
        }
    }

    private static func copy(
        _ source: SourceFile, to file: FileOperations.Descriptor, _ target: String, _ files: FileOperations
    ) throws {
        // The smallest page: a part that can't be read takes no more with it.
        var size = 1 << 20
        var offset: Int64 = 0
        while offset < source.size {
            let count = Int(min(Int64(size), source.size - offset))
            guard let bytes = source.bytes(count, at: offset) else {
                if size > 512 {
                    size = 512
                } else {
                    try files.write([UInt8](repeating: 0, count: count), to: file, target)
                    offset += Int64(count)
                }
                continue
            }
            try files.write(bytes, to: file, target)
            offset += Int64(count)
            if offset % (1 << 20) == 0 { size = 1 << 20 }
        }
        try files.sync(file, target)
    }
}
