import Foundation
import Quarry
import QuarryRecovery

/// Any bytes as a damaged database: what can be read is saved, into a database that is in order, and with bounded work.
enum Salvaging {
    /// Lines before the log or the journal beside the database.
    private static let companions = [
        ("-wal", Array("\n---- wal\n".utf8)), ("-journal", Array("\n---- journal\n".utf8)),
    ]

    /// In memory, where a sync costs nothing.
    private static let parent: URL = {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
    }()

    static func check(_ bytes: [UInt8]) throws {
        let folder = parent.appendingPathComponent("quarry-fuzz-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, target) = (folder.path + "/db", folder.path + "/new")
        var main = bytes
        var files: [(suffix: String, bytes: [UInt8])] = []
        for (suffix, separator) in companions {
            guard let range = main.firstRange(of: separator) else { continue }
            files.append((suffix, Array(main[range.upperBound...])))
            main = Array(main[..<range.lowerBound])
        }
        files.append(("", main))
        for (suffix, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: source + suffix)) }
        var last: SalvageProgress?
        do {
            let report = try DatabaseSalvage(path: source).salvage(into: target) { last = $0 }
            let database = try DatabaseQueue(path: target)
            let check = try database.checkIntegrity()
            try database.close()
            // Virtual tables whose content is damaged contradict themselves, as newer versions of SQLite say.
            let isDamaged = check.problems.contains { ($0.page ?? $0.rootPage) != nil || $0.kind == .index }
            if isDamaged { throw Violation("the new file is damaged: \(check), \(report)") }
        } catch let error as DatabaseError where main.count < 2 && error.resultCode == .SQLITE_NOTADB {
            // An empty file has nothing to save, and SQLite says that a file of one byte is empty.
        }
        if let last, last.readPageCount > 100 * last.pageCount + 4000 {
            throw Violation("\(last.readPageCount) readings of \(last.pageCount) pages")
        }
        for (suffix, bytes) in files {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: source + suffix))
            defer { try? file.close() }
            guard try file.readToEnd() ?? Data() == Data(bytes) else { throw Violation("the source has changed") }
        }
    }

    /// The files of `Corpus`: small databases, and those of killed programs with a log or a journal.
    static var seeds: [[UInt8]] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Corpus/salvage")
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).sorted { $0.path < $1.path }.compactMap { try? [UInt8](Data(contentsOf: $0)) }
    }
}
