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
    /// A path beside a file: `players.sqlite.corrupt-20260131T120000Z`.
    static func path(for path: String) -> String {
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
        // Several files may be damaged in one second.
        return ([name] + (2...100).lazy.map { "\(name)-\($0)" }).first { !exists($0) } ?? name
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Copies a database with its log or journal, byte by byte. Parts that can't be read become zeros.
    ///
    /// The file is read through SQLite's file system: closing a descriptor of our own would release SQLite's locks.
    static func copy(_ path: String, to target: String, vfs: String?) throws {
        try copy(SourceFile(path: path, kind: .quarantined, vfs: vfs), to: target)
        for (suffix, kind) in [("-wal", DatabaseFileHandle.Kind.log), ("-journal", .journal)]
        where try DatabaseFileHandle.exists(path + suffix, vfs: vfs) {
            try copy(SourceFile(path: path + suffix, kind: kind, vfs: vfs), to: target + suffix)
        }
        try NewFile.syncFolder(of: target)
    }

    private static func copy(_ source: SourceFile, to target: String) throws {
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw NewFile.error(errno, "\(target) can't be created") }
        defer { close(descriptor) }
        // The smallest page: a part that can't be read takes no more with it.
        var size = 1 << 20
        var offset: Int64 = 0
        while offset < source.size {
            let count = Int(min(Int64(size), source.size - offset))
            guard let bytes = source.bytes(count, at: offset) else {
                if size > 512 {
                    size = 512
                } else {
                    try write([UInt8](repeating: 0, count: count), to: descriptor, target)
                    offset += Int64(count)
                }
                continue
            }
            try write(bytes, to: descriptor, target)
            offset += Int64(count)
            if offset % (1 << 20) == 0 { size = 1 << 20 }
        }
        guard fsync(descriptor) == 0 else { throw NewFile.error(errno, "\(target) can't be synced") }
    }

    private static func write(_ bytes: [UInt8], to descriptor: CInt, _ target: String) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw NewFile.error(errno, "\(target) can't be written") }
            rest = rest.dropFirst(count)
        }
    }

    private static func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
