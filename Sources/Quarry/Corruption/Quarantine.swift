import QuarryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A copy of a damaged file.
struct Quarantine: Sendable {
    private let path: String
    private let vfs: String?
    private let files: FileOperations

    /// - parameter vfs: the name of SQLite's file system that has the file.
    init(of path: String, vfs: String?, _ files: FileOperations) {
        self.path = path
        self.vfs = vfs
        self.files = files
    }

    /// A path beside the file: `players.sqlite.corrupt-20260131T120000Z`.
    func newPath() -> String {
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
        // Several files may be damaged in one second. Making the copy reports what this doesn't see.
        return ([name] + (2...100).lazy.map { "\(name)-\($0)" }).first { (try? files.exists($0)) == false } ?? name
    }

    /// Copies the database with its log or journal, byte by byte. Parts that can't be read become zeros.
    ///
    /// The file is read through SQLite's file system: closing a descriptor of our own would release SQLite's locks.
    ///
    /// - throws: `DatabaseError`: there is no copy.
    func copy(to target: String) throws {
        var made: [String] = []
        do {
            try BackupTarget.calling("quarantine of \(path)") {
                try copy(SourceFile(path: path, kind: .quarantined, vfs: vfs), to: target, &made)
                for (suffix, kind) in [("-wal", DatabaseFileHandle.Kind.log), ("-journal", .journal)]
                where try DatabaseFileHandle.exists(path + suffix, vfs: vfs) {
                    try copy(SourceFile(path: path + suffix, kind: kind, vfs: vfs), to: target + suffix, &made)
                }
                try files.syncFolder(FileOperations.folder(of: target))
            }
        } catch {
            for path in made { try? files.remove(path) }
            throw error
        }
    }

    private func copy(_ source: SourceFile, to target: String, _ made: inout [String]) throws {
        let file = try files.create(target, permissions: 0o600)
        made.append(target)
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
