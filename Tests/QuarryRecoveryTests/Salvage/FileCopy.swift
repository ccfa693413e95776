import Foundation
import QuarryRecovery

/// Copies of database files.
enum FileCopy {
    static func copyIfExists(_ path: String, to target: String) throws {
        if FileManager.default.fileExists(atPath: path) {
            try FileManager.default.copyItem(atPath: path, toPath: target)
        }
    }

    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    static func bytes(_ path: String) -> [UInt8]? {
        // `Data(contentsOf:)` leaks a buffer for an empty file.
        FileHandle(forReadingAtPath: path).map { file in [UInt8]((try? file.readToEnd()) ?? Data()) }
    }

    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }
}
