import Foundation
import Quarry
import QuarryTestSupport

/// Names with quotes, NULs, and names of missing objects.
extension BadInput {
    static let names: [BadInput] = [
        .connection(
            "a table's name with a NUL",
            "SQLITE_MISUSE: the name of a table has a NUL character: \"player\\0x\""
        ) { db in
            _ = try db.openBlob(table: "player\0x", column: "photo", rowID: 1)
        },
        .connection(
            "a column's name with a NUL",
            "SQLITE_MISUSE: the name of a column has a NUL character: \"photo\\0\""
        ) { db in
            _ = try db.openBlob(table: "player", column: "photo\0", rowID: 1)
        },
        .connection(
            "a schema's name with a NUL",
            "SQLITE_MISUSE: the name of a schema has a NUL character: \"main\\0temp\""
        ) { db in
            _ = try db.openBlob(table: "player", column: "photo", rowID: 1, schema: "main\0temp")
        },
        .connection(
            "a table's name in quotes",
            "SQLITE_ERROR: blob main.\"player\".photo of row 1: no such table: main.\"player\""
        ) { db in
            _ = try db.openBlob(table: "\"player\"", column: "photo", rowID: 1)
        },
        .connection(
            "a table's name that is SQL",
            """
            SQLITE_ERROR: blob main.player; DROP TABLE player.photo of row 1: no such table: main.player; DROP \
            TABLE player
            """
        ) { db in
            _ = try db.openBlob(table: "player; DROP TABLE player", column: "photo", rowID: 1)
        },
        .connection(
            "an empty table's name",
            "SQLITE_ERROR: blob main..photo of row 1: no such table: main."
        ) { db in _ = try db.openBlob(table: "", column: "photo", rowID: 1) },
        .connection(
            "a schema to copy, with a NUL",
            "SQLITE_MISUSE: the name of a schema has a NUL character: \"main\\0\""
        ) { db in _ = try db.serialize(schema: "main\0") },
        .connection(
            "a schema to replace, with a NUL",
            "SQLITE_MISUSE: the name of a schema has a NUL character: \"main\\0\""
        ) { db in try db.deserialize([], schema: "main\0") },
        .connection(
            "a schema to replace, with a quote",
            "SQLITE_ERROR: could not deserialize into ma\"in: there is no such schema to replace"
        ) { db in
            try db.deserialize([], schema: "ma\"in")
        },
        .connection(
            "a schema to check, with a NUL",
            "SQLITE_MISUSE: the name of a schema has a NUL character: \"main\\0\""
        ) { db in try db.checkpoint(on: "main\0") },
        .connection(
            "a schema that was never attached",
            "SQLITE_ERROR: checkpoint of nowhere in :memory:: unknown database: nowhere"
        ) { db in try db.checkpoint(on: "nowhere") },
        .connection(
            "a savepoint's name with a quote",
            "SQLITE_ERROR: unrecognized token: \"\"a\" - while executing `SAVEPOINT \"a`"
        ) { db in try db.execute(sql: "SAVEPOINT \"a") },
        .connection(
            "a savepoint that isn't there",
            "SQLITE_ERROR: no such savepoint: o'\"clock - while executing `RELEASE SAVEPOINT \"o'\"\"clock\"`"
        ) { db in
            try db.inTransaction {
                try db.execute(literal: "RELEASE SAVEPOINT \(identifier: "o'\"clock")")
                return .commit
            }
        },
        .connection(
            "to roll back to a savepoint outside a transaction",
            "SQLITE_ERROR: no such savepoint: a - while executing `ROLLBACK TO a`"
        ) { db in
            try db.execute(sql: "ROLLBACK TO a")
        },
        .connection(
            "the name of an attached database twice",
            "SQLITE_ERROR: database one is already in use - while executing `ATTACH ':memory:' AS \"one\"`"
        ) { db in
            try db.execute(sql: "ATTACH ':memory:' AS one")
            defer { try? db.execute(sql: "DETACH one") }
            try db.execute(literal: "ATTACH ':memory:' AS \(identifier: "one")")
        },
        .connection(
            "the name of a database to detach",
            "SQLITE_ERROR: no such database: no\"where - while executing `DETACH \"no\"\"where\"`"
        ) { db in
            try db.execute(literal: "DETACH \(identifier: "no\"where")")
        },
        .connection(
            "to detach the main database",
            "SQLITE_ERROR: cannot detach database main - while executing `DETACH main`"
        ) { db in
            try db.inTransaction {
                try db.execute(sql: "DETACH main")
                return .commit
            }
        },
        .queue(
            "a function without a name",
            "SQLITE_MISUSE: the name of a function has 1 to 255 bytes of UTF-8 and no NUL: \"\""
        ) { queue in try add(queue, DatabaseFunction("") { _ in 1 }) },
        .queue(
            "a function whose name has a NUL",
            "SQLITE_MISUSE: the name of a function has 1 to 255 bytes of UTF-8 and no NUL: \"abs\\0x\""
        ) { queue in
            try add(queue, DatabaseFunction("abs\0x") { _ in 1 })
        },
        .queue(
            "a function whose name is too long",
            """
            SQLITE_MISUSE: the name of a function has 1 to 255 bytes of UTF-8 and no NUL: "fffffffffffffffffffffff\
            ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
            ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
            fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            """
        ) { queue in
            try add(queue, DatabaseFunction(String(repeating: "f", count: 300)) { _ in 1 })
        },
        .queue(
            "a function to remove whose name has a NUL",
            "SQLITE_MISUSE: the name of a function has 1 to 255 bytes of UTF-8 and no NUL: \"abs\\0\""
        ) { queue in
            try queue.write { db in db.remove(function: DatabaseFunction("abs\0", argumentCount: 1) { _ in 1 }) }
        },
        .queue(
            "a collation without a name",
            "SQLITE_MISUSE: the name of a collation has 1 to 255 bytes of UTF-8 and no NUL: \"\""
        ) { queue in
            try queue.write { db in db.add(collation: DatabaseCollation("") { _, _ in 0 }) }
        },
        .queue(
            "a collation whose name has a NUL",
            "SQLITE_MISUSE: the name of a collation has 1 to 255 bytes of UTF-8 and no NUL: \"nocase\\0\""
        ) { queue in
            try queue.write { db in db.add(collation: DatabaseCollation("nocase\0") { (_: String, _: String) in 0 }) }
        },
        .connection(
            "an index of a collation whose name has a NUL",
            "SQLITE_MISUSE: SQL has a NUL character at byte 10 - while executing `REINDEX \"a\\0\"`"
        ) { db in
            try db.reindex(collation: DatabaseCollation("a\0") { (_: String, _: String) in 0 })
        },
        .connection(
            "an index of a collation that isn't there",
            """
            SQLITE_ERROR: unable to identify the object to be reindexed - while executing `REINDEX "o""rder"`
            """
        ) { db in
            try db.reindex(collation: DatabaseCollation("o\"rder") { (_: String, _: String) in 0 })
        },
        .files(
            "a database in memory whose name has a NUL",
            "SQLITE_CANTOPEN: the name of a database has a NUL character: \"a\\0b\""
        ) { _ in _ = try DatabaseQueue(named: "a\0b") },
        .files(
            "a path with a NUL",
            "SQLITE_CANTOPEN: the path has a NUL character: \"FOLDER/a\\0.sqlite\""
        ) { folder in _ = try DatabaseQueue(path: folder.file("a\0.sqlite")) },
        .files(
            "a VFS that isn't there",
            "SQLITE_ERROR: no such vfs: no\"where - while opening FOLDER/a.sqlite"
        ) { folder in
            var configuration = Configuration()
            configuration.vfs = "no\"where"
            _ = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        },
        .files(
            "a VFS whose name has a NUL",
            "SQLITE_MISUSE: the name of a VFS has a NUL character: \"unix\\0\""
        ) { folder in
            var configuration = Configuration()
            configuration.vfs = "unix\0"
            _ = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        },
        .files(
            "a VFS that a URI names",
            "SQLITE_ERROR: no such vfs: nowhere - while opening file:FOLDER/a.sqlite?vfs=nowhere"
        ) { folder in
            _ = try DatabaseQueue(path: "file:\(folder.file("a.sqlite"))?vfs=nowhere")
        },
        .files(
            "a mode that a URI names",
            "SQLITE_ERROR: no such access mode: write - while opening file:FOLDER/a.sqlite?mode=write"
        ) { folder in
            _ = try DatabaseQueue(path: "file:\(folder.file("a.sqlite"))?mode=write")
        },
        .files(
            "a host that a URI names",
            "SQLITE_ERROR: invalid uri authority: example.com - while opening file://example.comFOLDER/a.sqlite"
        ) { folder in
            _ = try DatabaseQueue(path: "file://example.com\(folder.file("a.sqlite"))")
        },
        .pool(
            "a copy to a path with a NUL",
            "SQLITE_CANTOPEN: the path has a NUL character: \"FOLDER/a\\0b\""
        ) { pool, folder in try pool.vacuum(into: folder.file("a\0b")) },
    ]

    static func add(_ queue: DatabaseQueue, _ function: DatabaseFunction) throws {
        try queue.write { db in db.add(function: function) }
    }
}
