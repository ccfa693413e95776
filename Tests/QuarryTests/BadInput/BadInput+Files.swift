import Foundation
import Quarry
import QuarryTestSupport

/// Files that can't be opened, or aren't what they should be.
extension BadInput {
    static let files: [BadInput] = [
        .files(
            "a folder in place of a file",
            "SQLITE_CANTOPEN: unable to open database file: it is a folder - while opening FOLDER"
        ) { folder in _ = try DatabaseQueue(path: folder.path) },
        .files(
            "a folder in place of a pool's file",
            "SQLITE_CANTOPEN: unable to open database file: it is a folder - while opening FOLDER"
        ) { folder in _ = try DatabasePool(path: folder.path) },
        .files(
            "a folder in place of a file that is read",
            "SQLITE_CANTOPEN: unable to open database file: it is a folder - while opening FOLDER"
        ) { folder in try read(folder.path) },
        .files(
            "a folder that a URI names",
            """
            SQLITE_CANTOPEN: unable to open database file: it is a folder - while opening \
            file://localhostFOLDER/%2E?cache=private
            """
        ) { folder in
            _ = try DatabaseQueue(
                path: "file://localhost\(folder.path)/%2E?cache=private")
        },
        .files(
            "a file in a folder that isn't there",
            """
            SQLITE_CANTOPEN: unable to open database file: No such file or directory - while opening \
            FOLDER/missing/a.sqlite
            """
        ) { folder in
            _ = try DatabaseQueue(path: folder.file("missing/a.sqlite"))
        },
        .files(
            "a path below a file",
            "SQLITE_CANTOPEN: unable to open database file: Not a directory - while opening FOLDER/a/b.sqlite",
            prepare: Preparation { try "text".write($0, "a") }
        ) { folder in
            _ = try DatabaseQueue(path: folder.file("a/b.sqlite"))
        },
        .files(
            "a path that is too long",
            "SQLITE_CANTOPEN: unable to open database file: File name too long - while opening FOLDER/aaa…"
        ) { folder in
            do {
                _ = try DatabaseQueue(path: folder.file(String(repeating: "a", count: 300)))
            } catch let error as DatabaseError {
                throw shortened(error)
            }
        },
        .files(
            "a link to nothing, to be read",
            """
            SQLITE_CANTOPEN: unable to open database file: No such file or directory - while opening \
            FOLDER/a.sqlite
            """, prepare: Preparation { try $0.link("a.sqlite", to: "missing") }
        ) { folder in
            try read(folder.file("a.sqlite"))
        },
        .files(
            "a link to itself",
            """
            SQLITE_CANTOPEN: unable to open database file: Too many levels of symbolic links - while opening \
            FOLDER/a.sqlite
            """, prepare: Preparation { try $0.link("a.sqlite", to: "a.sqlite") }
        ) { folder in
            _ = try DatabaseQueue(path: folder.file("a.sqlite"))
        },
        .files(
            "a link into a folder that isn't there",
            """
            SQLITE_CANTOPEN: unable to open database file: No such file or directory - while opening \
            FOLDER/a.sqlite
            """, prepare: Preparation { try $0.link("a.sqlite", to: "no/where") }
        ) {
            _ = try DatabasePool(path: $0.file("a.sqlite"))
        },
        .files(
            "a pipe",
            "SQLITE_CANTOPEN: unable to open database file: it is a pipe - while opening FOLDER/pipe",
            prepare: Preparation { mkfifo($0.file("pipe"), 0o600) }
        ) { folder in
            _ = try DatabaseQueue(path: folder.file("pipe"))
        },
        .files(
            "a pipe that would be waited for",
            "SQLITE_CANTOPEN: unable to open database file: it is a pipe - while opening FOLDER/pipe",
            prepare: Preparation { mkfifo($0.file("pipe"), 0o600) }
        ) { folder in
            try read(folder.file("pipe"))
        },
        .files(
            "a file that is missing, to be read",
            """
            SQLITE_CANTOPEN: unable to open database file: No such file or directory - while opening \
            FOLDER/a.sqlite
            """
        ) { folder in try read(folder.file("a.sqlite")) },
        .files(
            "a file that is missing, to be read by a pool",
            """
            SQLITE_CANTOPEN: unable to open database file: No such file or directory - while opening \
            FOLDER/a.sqlite
            """
        ) { folder in
            var configuration = Configuration()
            configuration.readonly = true
            _ = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        },
        .files(
            "a file that is missing, of a URI that only reads",
            """
            SQLITE_CANTOPEN: unable to open database file: No such file or directory - while opening \
            file:FOLDER/a.sqlite?mode=ro
            """
        ) { folder in
            _ = try DatabaseQueue(path: "file:\(folder.file("a.sqlite"))?mode=ro")
        },
        .files(
            "a file that is missing, of a URI that makes none",
            """
            SQLITE_CANTOPEN: unable to open database file: No such file or directory - while opening \
            file:FOLDER/a.sqlite?mode=rw
            """
        ) { folder in
            _ = try DatabaseQueue(path: "file:\(folder.file("a.sqlite"))?mode=rw")
        },
        .files(
            "a file that is missing, to be copied",
            """
            SQLITE_CANTOPEN: unable to open database file: No such file or directory - while opening \
            FOLDER/a.sqlite
            """
        ) { folder in
            _ = try DatabaseQueue.inMemoryCopy(fromPath: folder.file("a.sqlite"))
        },
        .files(
            "a file that is no database, to be copied",
            "SQLITE_NOTADB: file is not a database - while opening FOLDER/a",
            prepare: Preparation { try text.write($0, "a") }
        ) { folder in
            _ = try DatabaseQueue.temporaryCopy(fromPath: folder.file("a"))
        },
        .files(
            "a pool in memory",
            """
            SQLITE_ERROR: could not activate WAL Mode at path: :memory:: a pool needs a file. Use DatabaseQueue() for \
            a database in memory
            """
        ) { _ in _ = try DatabasePool(path: ":memory:") },
        .files(
            "a pool without a path",
            "SQLITE_ERROR: could not activate WAL Mode at path:  (its journal mode is delete)"
        ) { _ in _ = try DatabasePool(path: "") }
        .or(
            """
            SQLITE_ERROR: could not activate WAL Mode at path: : a pool needs a file. Use DatabaseQueue() for a \
            database in memory
            """
        ),
        .files(
            "a pool on a file that never changes",
            """
            SQLITE_ERROR: could not activate WAL Mode at path: file:FOLDER/a.sqlite?immutable=1 (its journal mode \
            is delete)
            """, prepare: Preparation { try database($0, "a.sqlite") }
        ) { folder in
            _ = try DatabasePool(path: "file:\(folder.file("a.sqlite"))?immutable=1")
        },
        .files(
            "to write what is opened to be read",
            """
            SQLITE_READONLY: attempt to write a readonly database (Configuration.readonly) - while executing `DELETE \
            FROM player`
            """,
            prepare: Preparation { try database($0, "a.sqlite") }
        ) { folder in
            try reader(folder.file("a.sqlite")).write { db in try db.execute(sql: "DELETE FROM player") }
        },
        .files(
            "to write what a URI opens to be read",
            "SQLITE_READONLY: attempt to write a readonly database - while executing `DELETE FROM player`",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) { folder in
            try DatabaseQueue(path: "file:\(folder.file("a.sqlite"))?mode=ro").write { db in
                try db.execute(sql: "DELETE FROM player")
            }
        },
        .files(
            "to write what a URI says never changes",
            "SQLITE_READONLY: attempt to write a readonly database - while executing `DELETE FROM player`",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) { folder in
            try DatabaseQueue(path: "file:\(folder.file("a.sqlite"))?immutable=1").write { db in
                try db.execute(sql: "DELETE FROM player")
            }
        },
        .files(
            "to copy over a file",
            "SQLITE_ERROR: output file already exists - while executing `VACUUM INTO ?`",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) { folder in
            try reader(folder.file("a.sqlite")).vacuum(into: folder.file("a.sqlite"))
        },
        .files(
            "to copy into a folder that isn't there",
            "SQLITE_CANTOPEN: unable to open database: FOLDER/no/where.sqlite - while executing `VACUUM INTO ?`",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) { folder in
            try reader(folder.file("a.sqlite")).vacuum(into: folder.file("no/where.sqlite"))
        },
        .files(
            "to attach a folder",
            "SQLITE_CANTOPEN: unable to open database: FOLDER - while executing `ATTACH ? AS other`"
        ) { folder in
            try DatabaseQueue().writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH ? AS other", arguments: [folder.path])
            }
        },
        .files(
            "to attach what is no database",
            "SQLITE_NOTADB: file is not a database - while executing `ATTACH ? AS other`",
            prepare: Preparation { try text.write($0, "a") }
        ) { folder in
            try DatabaseQueue().writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH ? AS other", arguments: [folder.file("a")])
                try db.execute(sql: "SELECT * FROM other.sqlite_master")
            }
        },
    ]

    /// Files that were a database, or never were one.
    static let damagedFiles: [BadInput] = [
        .files(
            "a text",
            "SQLITE_NOTADB: file is not a database - while opening FOLDER/a",
            prepare: Preparation { try text.write($0, "a") }
        ) { _ = try DatabaseQueue(path: $0.file("a")) },
        .files(
            "a text, for a pool",
            "SQLITE_NOTADB: file is not a database - while opening FOLDER/a",
            prepare: Preparation { try text.write($0, "a") }
        ) {
            _ = try DatabasePool(path: $0.file("a"))
        },
        .files(
            "a text, to be read",
            "SQLITE_NOTADB: file is not a database - while opening FOLDER/a",
            prepare: Preparation { try text.write($0, "a") }
        ) { try read($0.file("a")) },
        .files(
            "a short text",
            "SQLITE_NOTADB: file is not a database - while opening FOLDER/a",
            prepare: Preparation { try "no database".write($0, "a") }
        ) {
            _ = try DatabaseQueue(path: $0.file("a"))
        },
        .files(
            "what looks encrypted",
            "SQLITE_NOTADB: file is not a database - while opening FOLDER/a",
            prepare: Preparation { folder in
                var generator = SeededGenerator(seed: 7)
                let bytes = (0..<8192).map { _ in UInt8.random(in: 0...255, using: &generator) }
                try Data(bytes).write(to: URL(fileURLWithPath: folder.file("a")))
            }
        ) { _ = try DatabaseQueue(path: $0.file("a")) },
        .files(
            "a header and nothing else",
            "SQLITE_CORRUPT: database disk image is malformed - while opening FOLDER/a",
            prepare: Preparation { try database($0, "a") { $0.removeSubrange(50...) } }
        ) {
            _ = try DatabaseQueue(path: $0.file("a"))
        },
        .files(
            "a database that is cut",
            "SQLITE_CORRUPT: database disk image is malformed - while opening FOLDER/a",
            prepare: Preparation { try database($0, "a") { $0.removeSubrange(4096...) } }
        ) {
            try readTables($0)
        },
        .files(
            "a page that is no page",
            "SQLITE_CORRUPT: database disk image is malformed - while executing `SELECT * FROM team`",
            prepare: Preparation { try database($0, "a") { $0.zero(4096..<8192) } }
        ) {
            try readTables($0)
        },
        .files(
            "the first page without content",
            "SQLITE_CORRUPT: database disk image is malformed - while opening FOLDER/a",
            prepare: Preparation { try database($0, "a") { $0.zero(100..<4096) } }
        ) {
            try readTables($0)
        },
        .files(
            "a page size that is none",
            "SQLITE_NOTADB: file is not a database - while opening FOLDER/a",
            prepare: Preparation { try database($0, "a") { $0[16] = 3 } }
        ) {
            try readTables($0)
        },
        .files(
            "a version of the format that isn't known",
            "SQLITE_NOTADB: file is not a database - while opening FOLDER/a",
            prepare: Preparation { try database($0, "a") { $0[19] = 9 } }
        ) {
            try readTables($0)
        },
        .files(
            "a version of the format to write that isn't known",
            "SQLITE_READONLY: attempt to write a readonly database - while executing `DELETE FROM player`",
            prepare: Preparation { try database($0, "a") { $0[18] = 9 } }
        ) {
            try DatabaseQueue(path: $0.file("a")).write { db in try db.execute(sql: "DELETE FROM player") }
        },
        .files(
            "a schema format that isn't known",
            "SQLITE_ERROR: unsupported file format - while opening FOLDER/a",
            prepare: Preparation { try database($0, "a") { $0[47] = 9 } }
        ) {
            try readTables($0)
        },
        .files(
            "a schema that is no SQL",
            """
            SQLITE_CORRUPT: malformed database schema (team) - near "TABEL": syntax error - while opening FOLDER/a
            """,
            prepare: Preparation { try database($0, "a") { $0.replace("CREATE TABLE team", "CREATE TABEL team") } }
        ) { try readTables($0) },
        .files(
            "a table in a page that isn't there",
            "SQLITE_CORRUPT: malformed database schema (player) - invalid rootpage - while opening FOLDER/a",
            prepare: Preparation { folder in
                try database(folder, "a") { _ in }
                try DatabaseQueue(path: folder.file("a")).writeWithoutTransaction { db in
                    try db.execute(
                        sql: """
                            PRAGMA writable_schema = ON;
                            UPDATE sqlite_schema SET rootpage = 9999 WHERE name = 'player';
                            """)
                }
            }
        ) { try readTables($0) },
        .files(
            "an index that isn't its table's",
            """
            SQLITE_CORRUPT: malformed database schema (sqlite_autoindex_team_1) - invalid rootpage - while \
            opening FOLDER/a
            """,
            prepare: Preparation { folder in
                try database(folder, "a") { _ in }
                try DatabaseQueue(path: folder.file("a")).writeWithoutTransaction { db in
                    try db.execute(
                        sql: """
                            PRAGMA writable_schema = ON;
                            UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'sqlite_autoindex_team_1';
                            """)
                }
            }
        ) { folder in
            try reader(folder.file("a")).read { db in
                _ = try Int.fetchAll(db, sql: "SELECT id FROM team WHERE name = 'Reds'")
            }
        },
        .files(
            "a log that is a folder",
            "SQLITE_CANTOPEN: unable to open database file - while opening FOLDER/a",
            prepare: Preparation { folder in
                try database(folder, "a") {
                    $0[18] = 2
                    $0[19] = 2
                }
                try FileManager.default.createDirectory(
                    atPath: folder.file("a-wal"), withIntermediateDirectories: false)
            }
        ) { try readTables($0) },
        .files(
            "a journal that is a folder",
            "SQLITE_IOERR_READ: disk I/O error - while opening FOLDER/a",
            prepare: Preparation { folder in
                try database(folder, "a") { _ in }
                try FileManager.default.createDirectory(
                    atPath: folder.file("a-journal"), withIntermediateDirectories: false)
            }
        ) { folder in
            try DatabaseQueue(path: folder.file("a")).write { db in try db.execute(sql: "DELETE FROM player") }
        },
    ]

    private static let text = String(repeating: "This is no database. ", count: 100)

    private static func reader(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func read(_ path: String) throws { _ = try reader(path) }

    private static func readTables(_ folder: TemporaryFolder) throws {
        try DatabaseQueue(path: folder.file("a")).read { db in
            _ = try Row.fetchAll(db, sql: "SELECT * FROM team")
            _ = try Row.fetchAll(db, sql: "SELECT * FROM player")
        }
    }

    /// A database in a file, whose bytes are changed.
    static func database(
        _ folder: TemporaryFolder, _ name: String, _ change: (inout [UInt8]) -> Void = { _ in }
    ) throws {
        let path = folder.file(name)
        try DatabaseQueue(path: path).write(makeTables)
        let url = URL(fileURLWithPath: path)
        var bytes = [UInt8](try Data(contentsOf: url))
        change(&bytes)
        try Data(bytes).write(to: url)
    }

    /// The error of a path that is too long to be told.
    private static func shortened(_ error: DatabaseError) -> DatabaseError {
        let name = String(repeating: "a", count: 300)
        return DatabaseError(
            resultCode: error.extendedResultCode,
            message: ((error.message ?? "") + (error.circumstances ?? "")).replacing(name, with: "aaa…"))
    }
}

extension String {
    fileprivate func write(_ folder: TemporaryFolder, _ name: String) throws {
        try write(toFile: folder.file(name), atomically: true, encoding: .utf8)
    }
}

extension TemporaryFolder {
    fileprivate func link(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: file(destination))
    }
}

extension [UInt8] {
    fileprivate mutating func zero(_ range: Range<Int>) {
        for index in range { self[index] = 0 }
    }

    fileprivate mutating func replace(_ old: String, _ new: String) {
        guard let range = firstRange(of: Array(old.utf8)) else { return }
        replaceSubrange(range, with: new.utf8)
    }
}
