internal import Foundation
public import QuarryClusterWire

/// Files of a database that `Request.dump` returned, on disk.
public enum Backup {
    /// Writes a database and its log next to it, so that SQLite opens both. The file mustn't exist.
    public static func write(_ files: [DumpedFile], of name: String, to path: String) throws {
        guard let main = files.first(where: { $0.name == name }), !main.contents.isEmpty else {
            throw NodeError("The cluster has no database \"\(name)\".")
        }
        for file in [path, path + "-wal"] where FileManager.default.fileExists(atPath: file) {
            throw NodeError("The file \(file) exists: a backup overwrites nothing.")
        }
        do {
            // The log first: without its log, the main file would look like a complete, older backup.
            if let log = files.first(where: { $0.name == name + "-wal" }), !log.contents.isEmpty {
                try Data(log.contents).write(to: URL(fileURLWithPath: path + "-wal"), options: .withoutOverwriting)
            }
            try Data(main.contents).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.removeItem(atPath: path + "-wal")
            throw NodeError("The backup can't be written to \(path): \(error.localizedDescription)")
        }
    }
}
