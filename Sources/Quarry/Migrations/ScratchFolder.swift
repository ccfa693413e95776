import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A folder for temporary files, which is removed with all its files when the value is destroyed.
struct ScratchFolder: ~Copyable {
    let path: String

    /// Creates a folder where SQLite would put its temporary files: <https://www.sqlite.org/tempfiles.html>.
    init() throws(DatabaseError) {
        let chosen = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { (name: String) in getenv(name).map { String(cString: $0) }
        }
        for parent in chosen + ["/var/tmp", "/tmp", "."] where !parent.isEmpty {
            var name = Array("\(parent)/quarry-XXXXXX".utf8CString)
            // The corresponding C function is `mkdtemp`: only this user can read the folder.
            let path = name.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
            }
            guard let path else { continue }
            self.path = path
            return
        }
        throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "there is no folder for temporary files")
    }

    deinit {
        if let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    UnsafeRawPointer(pointer).withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
                }
                // Folders, `.` and `..` among them, can't be unlinked.
                unlink("\(path)/\(name)")
            }
            closedir(folder)
        }
        rmdir(path)
    }
}
