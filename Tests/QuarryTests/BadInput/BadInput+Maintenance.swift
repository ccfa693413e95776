import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Blobs, backups, bytes of databases, extensions.
extension BadInput {
    static let blobs: [BadInput] = [
        .connection(
            "a blob of a row that isn't there",
            "SQLITE_ERROR: blob main.player.photo of row 99: no such rowid: 99"
        ) { db in _ = try photo(db, row: 99) },
        .connection(
            "a blob of a column that isn't there",
            "SQLITE_ERROR: blob main.player.age of row 1: no such column: \"age\""
        ) { db in
            _ = try db.openBlob(table: "player", column: "age", rowID: 1)
        },
        .connection(
            "a blob of a table that isn't there",
            "SQLITE_ERROR: blob main.nowhere.photo of row 1: no such table: main.nowhere"
        ) { db in
            _ = try db.openBlob(table: "nowhere", column: "photo", rowID: 1)
        },
        .connection(
            "a blob of a schema that isn't there",
            "SQLITE_ERROR: blob nowhere.player.photo of row 1: no such table: nowhere.player"
        ) { db in
            _ = try db.openBlob(table: "player", column: "photo", rowID: 1, schema: "nowhere")
        },
        .connection(
            "a blob that is NULL",
            "SQLITE_ERROR: blob main.player.photo of row 2: cannot open value of type null"
        ) { db in _ = try photo(db, row: 2) },
        .connection(
            "a blob that is a number",
            "SQLITE_ERROR: blob main.player.score of row 1: cannot open value of type integer"
        ) { db in
            _ = try db.openBlob(table: "player", column: "score", rowID: 1)
        },
        .connection(
            "a blob of a table without rowids",
            "SQLITE_ERROR: blob main.setting.value of row 1: cannot open table without rowid: setting"
        ) { db in
            _ = try db.openBlob(table: "setting", column: "value", rowID: 1)
        },
        .connection(
            "a blob of a view",
            "SQLITE_ERROR: blob main.v.photo of row 1: cannot open view: v"
        ) { db in
            try db.execute(sql: "CREATE VIEW v AS SELECT * FROM player")
            defer { try? db.execute(sql: "DROP VIEW v") }
            _ = try db.openBlob(table: "v", column: "photo", rowID: 1)
        },
        .connection(
            "to write a blob of an indexed column",
            "SQLITE_ERROR: blob main.team.name of row 1: cannot open indexed column for writing"
        ) { db in
            _ = try db.openBlob(table: "team", column: "name", rowID: 1, readOnly: false)
        },
        .connection(
            "to write a blob of a foreign key",
            "SQLITE_ERROR: blob main.player.teamId of row 1: cannot open foreign key column for writing"
        ) { db in
            _ = try db.openBlob(table: "player", column: "teamId", rowID: 1, readOnly: false)
        },
        .connection(
            "to read behind a blob",
            "SQLITE_RANGE: blob main.player.photo of row 1: 3 bytes from position 3 on are outside of its 5 bytes"
        ) { db in _ = try photo(db).read(count: 3, at: 3) },
        .connection(
            "to read before a blob",
            """
            SQLITE_RANGE: blob main.player.photo of row 1: 1 bytes from position -1 on are outside of its 5 bytes
            """
        ) { db in _ = try photo(db).read(count: 1, at: -1) },
        .connection(
            "to read less than nothing",
            """
            SQLITE_RANGE: blob main.player.photo of row 1: -1 bytes from position 0 on are outside of its 5 bytes
            """
        ) { db in _ = try photo(db).read(count: -1, at: 0) },
        .connection(
            "to read so much that the sum overflows",
            """
            SQLITE_RANGE: blob main.player.photo of row 1: 9223372036854775807 bytes from position 2 on are \
            outside of its 5 bytes
            """
        ) { db in
            _ = try photo(db).read(count: .max, at: 2)
        },
        .connection(
            "to seek behind a blob",
            "SQLITE_RANGE: blob main.player.photo of row 1: position 6 is outside of its 5 bytes"
        ) { db in try photo(db).seek(to: 6) },
        .connection(
            "to seek before a blob",
            "SQLITE_RANGE: blob main.player.photo of row 1: position -1 is outside of its 5 bytes"
        ) { db in try photo(db).seek(to: -1) },
        .connection(
            "to write a blob that is opened to be read",
            "SQLITE_READONLY: blob main.player.photo of row 1: it was opened for reading only"
        ) { db in try photo(db).write([1]) },
        .connection(
            "to write behind a blob",
            "SQLITE_RANGE: blob main.player.photo of row 1: 3 bytes from position 4 on are outside of its 5 bytes"
        ) { db in
            let blob = try photo(db, readOnly: false)
            defer { try? blob.close() }
            try blob.write([1, 2, 3], at: 4)
        },
        .connection(
            "to make a blob longer",
            "SQLITE_RANGE: blob main.player.photo of row 1: 6 bytes from position 0 on are outside of its 5 bytes"
        ) { db in
            let blob = try photo(db, readOnly: false)
            defer { try? blob.close() }
            try blob.write([1, 2, 3, 4, 5, 6])
        },
        .connection(
            "a blob that is closed",
            "SQLITE_MISUSE: blob main.player.photo of row 1: it is closed, or its access has ended"
        ) { db in
            let blob = try photo(db)
            try blob.close()
            _ = try blob.read(count: 0, at: 0)
        },
        .connection(
            "a blob whose row has changed",
            "SQLITE_ABORT: blob main.player.photo of row 1: query aborted"
        ) { db in
            let blob = try photo(db)
            try db.execute(sql: "UPDATE player SET score = score WHERE id = 1")
            _ = try blob.read()
        },
        .connection(
            "a blob whose row is gone",
            "SQLITE_ABORT: blob main.player.photo of row 3: query aborted"
        ) { db in
            try db.execute(sql: "INSERT INTO player (id, name, photo) VALUES (3, 'a', x'01')")
            let blob = try photo(db, row: 3)
            try db.execute(sql: "DELETE FROM player WHERE id = 3")
            _ = try blob.read()
        },
        .connection(
            "a blob that moves to a row that isn't there",
            "SQLITE_ERROR: blob main.player.photo of row 99: no such rowid: 99"
        ) { db in try photo(db).reopen(rowID: 99) },
        .connection(
            "a blob that couldn't move",
            "SQLITE_ABORT: blob main.player.photo of row 99: query aborted"
        ) { db in
            let blob = try photo(db)
            try? blob.reopen(rowID: 99)
            _ = try blob.read(count: 0, at: 0)
        },
        .queue(
            "a blob after its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let blob = try queue.read { db in try photo(db) }
            _ = try blob.read()
        },
        .queue(
            "a blob in another access",
            "SQLITE_MISUSE: blob main.player.photo of row 1: it is closed, or its access has ended"
        ) { queue in
            let blob = try queue.read { db in try photo(db) }
            try queue.read { _ in _ = try blob.read(count: 0, at: 0) }
        },
        .queue(
            "a blob on another thread",
            "SQLITE_MISUSE: Database was not used on the correct thread."
        ) { queue in
            try queue.read { db in
                // The other thread is refused, and this one waits for it.
                nonisolated(unsafe) let blob = try photo(db)
                _ = try onOtherThread { try blob.read() }
            }
        },
        .connection(
            "a commit while a blob is written",
            """
            SQLITE_BUSY: cannot commit transaction - SQL statements in progress - while executing `COMMIT \
            TRANSACTION`
            """
        ) { db in
            var blob: DatabaseBlob?
            defer { try? blob?.close() }
            try db.inTransaction {
                blob = try photo(db, readOnly: false)
                try blob?.write([9])
                return .commit
            }
        },
    ]

    private static func photo(_ db: Database, row: Int64 = 1, readOnly: Bool = true) throws -> DatabaseBlob {
        try db.openBlob(table: "player", column: "photo", rowID: row, readOnly: readOnly)
    }

    static let backups: [BadInput] = [
        .connection(
            "a backup to itself",
            "SQLITE_MISUSE: a database can't be backed up to itself"
        ) { db in try db.backup(to: db) },
        .queue(
            "a backup of a queue to itself",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has the connection of :memory:: \
            pass its db to functions instead of using the database in them.
            """
        ) { queue in try queue.backup(to: queue) },
        .connection(
            "a backup of no page at a time",
            "SQLITE_MISUSE: pagesPerStep is 0: nothing would be copied"
        ) { db in
            try DatabaseQueue().writeWithoutTransaction { copy in try db.backup(to: copy, pagesPerStep: 0) }
        },
        .connection(
            "a backup to a transaction",
            "SQLITE_ERROR: backup of :memory: to copy: destination database is in use"
        ) { db in
            try labelled("copy").write { copy in try db.backup(to: copy) }
        },
        .queue(
            "a backup to a database whose access is over",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let other = try DatabaseQueue()
            let copy = try other.writeWithoutTransaction { db in db }
            try queue.read { db in try db.backup(to: copy) }
        },
        .queue(
            "a backup to a queue that is closed",
            "SQLITE_MISUSE: Connection is closed: the connection of :memory:"
        ) { queue in
            let copy = try DatabaseQueue()
            try copy.close()
            try queue.backup(to: copy)
        },
        .connection(
            "a backup to a read",
            "SQLITE_READONLY: backup of :memory: to copy: attempt to write a readonly database (in a read: use write)"
        ) { db in
            try labelled("copy").read { copy in try db.backup(to: copy) }
        },
        .connection(
            "a backup to a file that is read-only",
            """
            SQLITE_READONLY: backup of :memory: to copy: attempt to write a readonly database \
            (Configuration.readonly)
            """
        ) { db in
            let folder = try TemporaryFolder(isFast: true)
            try DatabaseQueue(path: folder.file("a")).write(makeTables)
            var configuration = Configuration()
            configuration.readonly = true
            configuration.label = "copy"
            let copy = try DatabaseQueue(path: folder.file("a"), configuration: configuration)
            try copy.writeWithoutTransaction { copy in try db.backup(to: copy) }
        },
        .connection(
            "a backup to a file that another connection has locked",
            "SQLITE_BUSY: backup of :memory: to copy: database is locked"
        ) { db in
            let folder = try TemporaryFolder(isFast: true)
            var configuration = Configuration()
            configuration.busyMode = .immediateError
            configuration.label = "copy"
            let copy = try DatabaseQueue(path: folder.file("a"), configuration: configuration)
            try DatabaseQueue(path: folder.file("a"), configuration: configuration).write { _ in
                try copy.writeWithoutTransaction { copy in try db.backup(to: copy) }
            }
        },
        .queue(
            "a backup whose progress throws",
            "Refusal: Refusal()"
        ) { queue in
            try queue.backup(to: try DatabaseQueue(), pagesPerStep: 1) { _ in throw Refusal() }
        },
        .connection(
            "a backup whose progress uses the destination",
            "SQLITE_MISUSE: The destination of a backup can't be used until the backup ends."
        ) { db in
            try DatabaseQueue().writeWithoutTransaction { copy in
                try db.backup(to: copy, pagesPerStep: 1) { _ in try copy.execute(sql: "SELECT 1") }
            }
        },
        .connection(
            "a backup in a backup",
            "SQLITE_MISUSE: a backup of :memory: is under way"
        ) { db in
            let other = try DatabaseQueue()
            try DatabaseQueue().writeWithoutTransaction { copy in
                try db.backup(to: copy, pagesPerStep: 1) { _ in
                    try other.writeWithoutTransaction { other in try db.backup(to: other) }
                }
            }
        },
        .queue(
            "a backup on another thread",
            "SQLITE_MISUSE: Database was not used on the correct thread."
        ) { queue in
            try queue.read { db in
                // The other thread is refused, and this one waits for it.
                nonisolated(unsafe) let db = db
                try DatabaseQueue().writeWithoutTransaction { copy in
                    // The other thread is refused, and this one waits for it.
                    nonisolated(unsafe) let copy = copy
                    try onOtherThread { try db.backup(to: copy) }
                }
            }
        },
        .pool(
            "a backup of a file to itself",
            "SQLITE_BUSY: backup of copy to copy: database is locked"
        ) { _, folder in
            var configuration = Configuration()
            configuration.busyMode = .immediateError
            configuration.label = "copy"
            let path = folder.file("b.sqlite")
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.write(makeTables)
            try queue.backup(to: DatabaseQueue(path: path, configuration: configuration))
        },
    ]

    private static func labelled(_ label: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = label
        return try DatabaseQueue(configuration: configuration)
    }

    static let serialization: [BadInput] = [
        .connection(
            "bytes that are no database",
            "SQLITE_NOTADB: could not deserialize into main: the bytes are no database"
        ) { db in try db.deserialize([1, 2, 3]) },
        .connection(
            "many bytes that are no database",
            "SQLITE_NOTADB: could not deserialize into main: the bytes are no database"
        ) { db in
            try db.deserialize([UInt8](repeating: 7, count: 4096))
        },
        .connection(
            "bytes that only begin as a database",
            "SQLITE_NOTADB: could not deserialize into main: file is not a database"
        ) { db in
            try db.deserialize(Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 4096))
        },
        .connection(
            "bytes of a database that is cut",
            "SQLITE_CORRUPT: could not deserialize into main: database disk image is malformed"
        ) { db in
            try db.deserialize(Array(try db.serialize().prefix(5000)))
        },
        .connection(
            "bytes of a database whose schema is no SQL",
            """
            SQLITE_CORRUPT: could not deserialize into main: malformed database schema (team) - near "TABEL": \
            syntax error
            """
        ) { db in
            var bytes = try db.serialize()
            let name = try #require(bytes.firstRange(of: Array("TABLE team".utf8)))
            bytes.replaceSubrange(name, with: "TABEL team".utf8)
            try db.deserialize(bytes)
        },
        .connection(
            "bytes for a schema that isn't there",
            "SQLITE_ERROR: could not deserialize into nowhere: there is no such schema to replace"
        ) { db in try db.deserialize([], schema: "nowhere") },
        .connection(
            "bytes for the temporary schema",
            "SQLITE_ERROR: could not deserialize into temp: there is no such schema to replace"
        ) { db in try db.deserialize([], schema: "temp") },
        .connection(
            "the bytes of a schema that isn't there",
            "SQLITE_ERROR: could not serialize nowhere: there is no such schema"
        ) { db in _ = try db.serialize(schema: "nowhere") },
        .connection(
            "bytes in a transaction",
            "SQLITE_BUSY: could not deserialize into main: a transaction, statement or backup uses it"
        ) { db in
            try db.inTransaction {
                try db.deserialize([])
                return .commit
            }
        },
        .connection(
            "bytes while a cursor reads",
            "SQLITE_BUSY: could not deserialize into main: a transaction, statement or backup uses it"
        ) { db in
            let ids = try Int.fetchCursor(db, sql: "SELECT id FROM player")
            _ = try ids.next()
            try withExtendedLifetime(ids) { try db.deserialize([]) }
        },
        .queue(
            "to write bytes that are read-only",
            "SQLITE_READONLY: attempt to write a readonly database - while executing `DELETE FROM player`"
        ) { queue in
            let bytes = try queue.read { db in try db.serialize() }
            try DatabaseQueue().writeWithoutTransaction { db in
                try db.deserialize(bytes, readOnly: true)
                try db.execute(sql: "DELETE FROM player")
            }
        },
        .queue(
            "bytes of a Database that has left its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let db = try queue.read { db in db }
            _ = try db.serialize()
        },
    ]

    static let maintenance: [BadInput] = [
        .connection(
            "an extension, where none is allowed",
            "SQLITE_MISUSE: could not load the extension /nowhere: Configuration.allowsLoadingExtensions is off"
        ) { db in try db.loadExtension(path: "/nowhere") },
        .connection(
            "an extension by SQL",
            "SQLITE_ERROR: not authorized - while executing `SELECT load_extension('/nowhere')`"
        ) { db in try db.execute(sql: "SELECT load_extension('/nowhere')") },
        .queue(
            "an extension that isn't there",
            "SQLITE_ERROR: could not load the extension /nowhere:"
        ) { _ in
            try withExtensions { db in
                do {
                    try db.loadExtension(path: "/nowhere")
                } catch let error as DatabaseError {
                    // The rest is the linker's.
                    throw DatabaseError(
                        resultCode: error.extendedResultCode, message: error.message.map { String($0.prefix(38)) })
                }
            }
        },
        .queue(
            "an extension whose path has a NUL",
            "SQLITE_MISUSE: the path or entry point of an extension has a NUL: \"/usr/lib/a\\0.so\""
        ) { _ in
            try withExtensions { db in try db.loadExtension(path: "/usr/lib/a\0.so") }
        },
        .queue(
            "an extension whose entry point has a NUL",
            "SQLITE_MISUSE: the path or entry point of an extension has a NUL: \"/usr/lib/a.so\""
        ) { _ in
            try withExtensions { db in try db.loadExtension(path: "/usr/lib/a.so", entryPoint: "main\0") }
        },
        .queue(
            "an extension by SQL where extensions are allowed",
            "SQLITE_ERROR: not authorized - while executing `SELECT load_extension('/nowhere')`"
        ) { _ in
            try withExtensions { db in try db.execute(sql: "SELECT load_extension('/nowhere')") }
        },
        .queue(
            "a limit of a Database that has left its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let db = try queue.read { db in db }
            try db.setLimit(.length, to: 1)
        },
        .queue(
            "a trace of a Database that has left its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let db = try queue.read { db in db }
            db.trace { _ in }
            try queue.read { _ in }
        },
        .connection(
            "an index that isn't there",
            "SQLITE_ERROR: unable to identify the object to be reindexed - while executing `REINDEX nowhere`"
        ) { db in try db.execute(sql: "REINDEX nowhere") },
        .queue(
            "to vacuum a copy to a path below a file",
            "SQLITE_CANTOPEN: unable to open database: /dev/null/a.sqlite - while executing `VACUUM INTO ?`"
        ) { queue in
            try queue.vacuum(into: "/dev/null/a.sqlite")
        },
    ]

    private static func withExtensions(_ body: (Database) throws -> Void) throws {
        var configuration = Configuration()
        configuration.allowsLoadingExtensions = true
        try DatabaseQueue(configuration: configuration).writeWithoutTransaction(body)
    }
}
