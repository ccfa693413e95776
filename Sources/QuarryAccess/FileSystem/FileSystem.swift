import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Questions about the file system of a database.
package enum FileSystem {
    /// The kinds of network file systems, by the number that the system gives them:
    /// <https://man7.org/linux/man-pages/man2/statfs.2.html>.
    private static func networkName(_ type: UInt32) -> String? {
        switch type {
        case 0x6969: "NFS"
        case 0x517B: "SMB"
        case 0xFF53_4D42: "CIFS"
        case 0xFE53_4D42: "SMB2"
        case 0x5346_414F, 0x6B41_4653: "AFS"
        case 0x0102_1997: "9P"
        case 0x00C3_6400: "Ceph"
        case 0x7375_7245: "Coda"
        case 0x564C: "NCP"
        case 0x0BD0_0BD0: "Lustre"
        case 0x786F_4256: "vboxsf"
        default: nil
        }
    }

    /// The name of the network file system that a file is on; nil for a local one, and if it can't be found out.
    static func networkName(ofFile path: UnsafePointer<CChar>) -> String? {
        FileSystemCalls.type(ofFile: path).flatMap(networkName)
    }

    /// Throws if a database in WAL mode must not be on the file system of its file.
    ///
    /// - parameter willBeWAL: whether the database will be in WAL mode, whatever its mode is now.
    /// - parameter networkName: finds the name of the network file system.
    static func check(
        _ db: Database, willBeWAL: Bool, networkName: (UnsafePointer<CChar>) -> String? = networkName(ofFile:)
    ) throws {
        let configuration = db.configuration
        // The program's own file system knows what it is on.
        guard configuration.wal.networkFileSystems == .refused, configuration.vfs == nil,
            let name = db.hooks.withMainPath({ $0.flatMap(networkName) })
        else { return }
        if !willBeWAL, try String.fetchOne(db, sql: "PRAGMA main.journal_mode") != "wal" { return }
        throw DatabaseError(
            resultCode: .SQLITE_CANTOPEN,
            message: """
                a database in WAL mode must not be on a network file system (\(name)), unless \
                Configuration.wal.networkFileSystems allows it
                """
        ).with(circumstances: " - while opening \(db.mainFilePath ?? "")")
    }

    /// The number of another process that has a database in WAL mode open; nil if none has, and if it can't be found
    /// out.
    ///
    /// Each process holds a shared lock on a byte of the file of the log's index:
    /// <https://www.sqlite.org/walformat.html#wal_locks>. The system lists all locks. Opening the file to ask for its
    /// locks would be wrong: closing it again would release SQLite's own:
    /// <https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>.
    package static func otherProcess(withDatabase path: String) -> Int? {
        #if os(Linux)
        var status = stat()
        guard stat(path + "-shm", &status) == 0, let locks = text(ofFile: "/proc/locks") else { return nil }
        return otherProcess(in: locks, inode: UInt64(status.st_ino), ownProcess: Int(getpid()))
        #else
        return nil
        #endif
    }

    /// Looks for a lock of another process in the system's list.
    ///
    /// ```
    /// 3: POSIX  ADVISORY  READ 1234 fe:00:5678 128 128
    /// ```
    static func otherProcess(in locks: String, inode: UInt64, ownProcess: Int) -> Int? {
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 8, fields[1] == "POSIX", fields[6] == "128", fields[7] == "128",
                let process = Int(fields[4]), process > 0, process != ownProcess,
                let last = fields[5].split(separator: ":").last, UInt64(last) == inode
            else { continue }
            return process
        }
        return nil
    }

    static func text(ofFile path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the process, or the system, can open fewer than four other files now.
    ///
    /// A connection opens its file, and later its log and the log's index. One file alone may be taken by another
    /// thread before the connection opens it, or be given back by another thread after the connection has failed to.
    package static var isShortOfDescriptors: Bool { !canOpenFiles(4) }

    private static func canOpenFiles(_ count: Int) -> Bool {
        guard count > 0 else { return true }
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno != EMFILE && errno != ENFILE }
        // No database: closing it drops no lock.
        defer { _ = close(descriptor) }
        return canOpenFiles(count - 1)
    }

    /// The bytes of a file; nil if there is none.
    ///
    /// Nothing is opened: closing a database file would drop SQLite's locks on it.
    ///
    /// - throws: `SQLITE_CANTOPEN` with the system's reason, for example for a folder that may not be searched.
    package static func size(ofFile path: String) throws -> Int? {
        var status = stat()
        guard stat(path, &status) != 0 else { return Int(status.st_size) }
        let number = errno
        if number == ENOENT || number == ENOTDIR { return nil }
        throw DatabaseError(
            resultCode: .SQLITE_CANTOPEN, message: "\(String(cString: strerror(number))) - of the file \(path)")
    }
}
