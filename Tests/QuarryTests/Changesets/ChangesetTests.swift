import Foundation
import QuarryTestSupport
import Testing

@testable import QuarryChangesets
@testable import QuarryCore

/// Changesets and patchsets as values.
@Suite struct ChangesetTests {
    @Test func changesHaveKindsKeysAndValues() throws {
        try withPlayers { (first, _) throws in
            let changeset = try first.recorded(
                "INSERT INTO player VALUES (3, NULL, x'00ff'); UPDATE player SET name = 'A' WHERE id = 1; DELETE FROM player WHERE id = 2"
            )
            let changes = changeset.sorted { $0.kind.rawValue < $1.kind.rawValue }
            #expect(
                changes.map(\.description) == [
                    "delete player(2, \"b\", 20)", "insert player(3, NULL, x'00ff')",
                    "update player(1, \"a\", _) to (_, \"A\", _)",
                ])
            #expect(changes.map(\.primaryKey) == [[2.databaseValue], [3.databaseValue], [1.databaseValue]])
            #expect(changes.allSatisfy { $0.primaryKeyColumns == [0] && $0.columnCount == 3 && !$0.isIndirect })
            #expect(!changeset.isEmpty)
            #expect(try Changeset(bytes: changeset.bytes) == changeset)
        }
    }

    @Test func eachStorageClassIsKept() throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            let values: [DatabaseValue] = [
                .null, Int64.min.databaseValue, 0.1.databaseValue, (-Double.infinity).databaseValue,
                "ü\0x".databaseValue, String(repeating: "x", count: 300).databaseValue, [UInt8]().databaseValue,
                [UInt8](repeating: 7, count: 20_000).databaseValue,
            ]
            let changeset = try db.recordChangeset {
                for value in values { try db.execute(sql: "INSERT INTO t (a) VALUES (?)", arguments: [value]) }
            }.changeset
            let read = changeset.sorted { $0.primaryKey[0].description < $1.primaryKey[0].description }
            #expect(read.map { $0.newValues[1] } == values)
        }
    }

    @Test func theOrderOfTheKeyIsKnown() throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a, b, c, PRIMARY KEY (c, a)) WITHOUT ROWID")
            let change = try #require(try db.recorded("INSERT INTO t VALUES (1, 2, 3)").first { _ in true })
            #expect(change.primaryKeyColumns == [2, 0])
            #expect(change.primaryKey == [3.databaseValue, 1.databaseValue])
        }
    }

    @Test func invertedChangesetTakesBack() throws {
        try withPlayers { (first, second) throws in
            let before = try first.rows()
            let changeset = try first.recorded("DELETE FROM player WHERE id = 1; UPDATE player SET score = 5")
            #expect(try first.rows() != before)
            try first.apply(changeset.inverted())
            #expect(try first.rows() == before)
            #expect(try Changeset().inverted().isEmpty)
        }
    }

    @Test func concatenationMergesTheChangesOfARow() throws {
        try withPlayers { (first, second) throws in
            let insertion = try first.recorded("INSERT INTO player VALUES (3, 'c', 1)")
            let update = try first.recorded("UPDATE player SET score = 2 WHERE id = 3")
            let deletion = try first.recorded("DELETE FROM player WHERE id = 3")
            #expect(try (insertion + update).description == "[insert player(3, \"c\", 2)]")
            #expect(try insertion.concatenated(with: update).concatenated(with: deletion).isEmpty)
            #expect(try insertion + Changeset() == insertion)
            #expect(try Changeset() + insertion == insertion)
            let patchset = try insertion.patchset + update.patchset
            #expect(patchset.description == "[insert player(3, \"c\", 2)]")
            try second.apply(patchset)
            #expect(try second.rows() == "1|a|10,2|b|20,3|c|2")
        }
    }

    @Test func concatenationOfDifferentTablesThrows() throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a PRIMARY KEY)")
            let one = try db.recorded("INSERT INTO t VALUES (1)")
            try db.execute(sql: "DROP TABLE t; CREATE TABLE t (a PRIMARY KEY, b)")
            let two = try db.recorded("INSERT INTO t VALUES (2, 3)")
            expectError(
                .SQLITE_SCHEMA, "could not concatenate changesets: a table has other columns or another primary key"
            ) { try two + one }
        }
    }

    /// SQLite's own patchset of the same session is the reference.
    @Test func patchsetIsSQLitesByteForByte() throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (a, b, c, d, PRIMARY KEY (c, a));
                    INSERT INTO t VALUES (1, 2, 3, CAST(x'ff' AS TEXT)), (4, 5, 6, 7.5), (7, 8, 9, NULL);
                    """)
            let reference = try RawSession(db)
            let changeset = try db.recorded(
                """
                UPDATE t SET b = CAST(x'fe' AS TEXT) WHERE a = 1; DELETE FROM t WHERE a = 4;
                INSERT INTO t VALUES (10, 11, 12, zeroblob(200)); UPDATE t SET d = 1 WHERE a = 7;
                """)
            #expect(try reference.patchset() == changeset.patchset.bytes)
            #expect(try reference.changeset() == changeset.bytes)
            #expect(try Patchset(bytes: changeset.patchset.bytes) == changeset.patchset)
            #expect(changeset.patchset.map(\.newValues) == changeset.map(\.newValues))
            #expect(changeset.patchset.map(\.primaryKey) == changeset.map(\.primaryKey))
        }
    }

    // MARK: - Bytes from outside

    @Test(
        arguments: [
            ([0x50], "it doesn't begin with a table"),
            ([0x12, 0], "it doesn't begin with a table"),
            ([0x54], "it is cut off"),
            ([0x54, 0], "a table has 0 columns"),
            ([0x54, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "a length is out of range"),
            ([0x54, 2, 1], "it is cut off"),
            ([0x54, 1, 0, 0x74, 0], "a table has no primary key"),
            ([0x54, 1, 1, 0], "a table has no name"),
            ([0x54, 1, 1, 0x74], "a table has no name"),
            ([0x54, 1, 1, 0xFF, 0], "a table has no name"),
            ([0x54, 1, 1, 0x74, 0, 7], "there is no kind of change 7"),
            ([0x54, 1, 1, 0x74, 0, 18, 0], "it is cut off"),
            ([0x54, 1, 1, 0x74, 0, 18, 0, 1, 0, 0], "it is cut off"),
            ([0x54, 1, 1, 0x74, 0, 18, 0, 0], "an inserted value is undefined"),
            ([0x54, 2, 1, 0, 0x74, 0, 9, 0, 5, 0], "a deleted value is undefined"),
            ([0x54, 1, 1, 0x74, 0, 23, 0, 0, 0], "a value of the primary key is undefined"),
            ([0x54, 1, 1, 0x74, 0, 18, 0, 6], "there is no type of values 6"),
            ([0x54, 1, 1, 0x74, 0, 18, 0, 3, 0x8F, 0xFF, 0xFF, 0xFF, 0x7F], "it is cut off"),
            ([0x54, 1, 1, 0x74, 0, 18, 0, 5], "a value of the primary key is NULL"),
            ([0x54, 2, 1, 1, 0x74, 0, 9, 0, 3, 0, 5], "a value of the primary key is NULL"),
            ([0x54, 1, 1, 0x74, 0, 23, 0, 3, 0, 5], "a value of the primary key is NULL"),
            // Twice the same table, with other columns or another primary key.
            (
                [0x54, 2, 1, 0, 0x74, 0, 18, 0, 3, 0, 5, 0x54, 1, 1, 0x54, 0, 18, 0, 3, 0],
                "table T has other columns or another primary key than before"
            ),
            (
                [0x54, 2, 1, 0, 0x74, 0, 0x54, 1, 1, 0x75, 0, 0x54, 2, 1, 1, 0x74, 0],
                "table t has other columns or another primary key than before"
            ),
        ] as [([UInt8], String)]) func malformedBytesThrow(_ bytes: [UInt8], _ reason: String) throws
    {
        let error = #expect(throws: DatabaseError.self) { try Changeset(bytes: bytes) }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(
            error?.message?.hasPrefix("the bytes are no changeset: \(reason) (byte ") == true,
            "\(String(describing: error))")
    }

    /// SQLite would read beyond the end of the values, as of a changeset's.
    @Test(
        arguments: [
            ([0x50, 1, 1, 0x74, 0, 18, 0, 5], "a value of the primary key is NULL"),
            ([0x50, 1, 1, 0x74, 0, 9, 0, 5], "a value of the primary key is NULL"),
            ([0x50, 2, 1, 0, 0x74, 0, 23, 0, 5, 3, 0], "a value of the primary key is NULL"),
            (
                [0x50, 2, 1, 0, 0x74, 0, 18, 0, 3, 0, 5, 0x50, 1, 1, 0x54, 0, 18, 0, 3, 0],
                "table T has other columns or another primary key than before"
            ),
        ] as [([UInt8], String)]) func patchsetsThatSQLiteWouldFollowTooFar(_ bytes: [UInt8], _ reason: String) throws
    {
        let error = #expect(throws: DatabaseError.self) { try Patchset(bytes: bytes) }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.message?.hasPrefix("the bytes are no patchset: \(reason) (byte ") == true)
    }

    @Test(
        arguments: [
            ([0x54, 1, 1, 0x74, 0, 18, 0, 5], "a value of the primary key is NULL"),
            ([0x54, 2, 1, 0, 0x74, 0, 9, 0, 5, 0], "a value of the primary key is NULL"),
            (
                [0x54, 2, 1, 0, 0x74, 0, 18, 0, 3, 0, 0, 0x54, 1, 1, 0x54, 0, 18, 0, 3, 0],
                "table T has other columns or another primary key than before"
            ),
        ] as [([UInt8], String)])
    func rebaseInformationThatSQLiteWouldFollowTooFar(_ bytes: [UInt8], _ reason: String) throws {
        let error = #expect(throws: DatabaseError.self) { try Changeset.RebaseInformation(bytes: bytes) }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.message?.hasPrefix("the bytes are no changeset: \(reason) (byte ") == true)
    }

    @Test func aChangesetIsNoPatchset() throws {
        try withPlayers { (first, _) throws in
            let changeset = try first.recorded("DELETE FROM player")
            expectError(.SQLITE_CORRUPT) { try Patchset(bytes: changeset.bytes) }
            expectError(.SQLITE_CORRUPT) { try Changeset(bytes: changeset.patchset.bytes) }
            #expect(try Changeset(bytes: []).isEmpty)
        }
    }

    /// Bytes of a real changeset with random changes are refused, or are safe in every function.
    @Test(arguments: [UInt64.random(in: 0 ... .max)]) func randomBytesNeverCrash(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try withPlayers("CREATE TABLE pair (a, b, c, PRIMARY KEY (b, a)) WITHOUT ROWID") { (first, second) throws in
            let original = try first.recorded(
                """
                INSERT INTO player VALUES (3, 'c', 1.5); UPDATE player SET name = 'A' WHERE id = 1;
                DELETE FROM player WHERE id = 2; INSERT INTO pair VALUES (1, 2, x'0102030405'), (3, 4, NULL);
                """)
            var accepted = 0
            for _ in 0..<5_000 {
                var bytes = Bool.random(using: &random) ? original.bytes : original.patchset.bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: bytes[index] = .random(in: 0 ... .max, using: &random)
                    case 1: bytes.removeSubrange(index...)
                    case 2: bytes.insert(.random(in: 0...30, using: &random), at: index)
                    case 3: bytes += bytes[index...].prefix(.random(in: 1...100, using: &random))
                    default: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
                    }
                    if bytes.isEmpty { bytes = [0x54] }
                }
                accepted += try use(bytes, original, in: second) ? 1 : 0
            }
            #expect(accepted > 0, "seed \(seed): no changed bytes were accepted")
            #expect(try String.fetchOne(second, sql: "PRAGMA integrity_check") == "ok", "seed \(seed)")
        }
    }

    /// - returns: whether the bytes were accepted.
    private func use(_ bytes: [UInt8], _ other: Changeset, in db: Database) throws -> Bool {
        func attempt<T>(_ body: () throws -> T) { _ = try? body() }
        var isAccepted = false
        if let changeset = try? Changeset(bytes: bytes) {
            isAccepted = true
            _ = Array(changeset)
            attempt { try changeset.inverted().inverted() }
            attempt { try changeset + other }
            attempt { try other + changeset }
            attempt { try other.patchset + changeset.patchset }
            attempt { try applyAndRollBack(changeset, in: db) }
        }
        if let patchset = try? Patchset(bytes: bytes) {
            isAccepted = true
            attempt { try patchset + other.patchset }
            attempt { try applyAndRollBack(patchset, in: db) }
        }
        if let information = try? Changeset.RebaseInformation(bytes: bytes) {
            // If a row comes again after its deletion, SQLite's rebaser (3.40.1 and 3.54.0) loses some bytes.
            ignoringLeaks {
                attempt { try other.rebased(on: information) }
                attempt {
                    try Changeset(bytes: bytes).rebased(
                        on: information, Changeset.RebaseInformation(bytes: other.bytes))
                }
            }
            attempt {
                try Changeset(bytes: bytes).rebased(on: Changeset.RebaseInformation(bytes: other.inverted().bytes))
            }
        }
        return isAccepted
    }

    /// Runs `body`. The leak sanitizer, if there is one, doesn't report what is allocated meanwhile on this thread.
    private func ignoringLeaks(_ body: () -> Void) {
        func call(_ name: String) {
            guard let symbol = dlsym(nil, name) else { return }
            unsafeBitCast(symbol, to: (@convention(c) () -> Void).self)()
        }
        call("__lsan_disable")
        defer { call("__lsan_enable") }
        body()
    }

    private func applyAndRollBack(_ changeset: some ChangesetProtocol, in db: Database) throws {
        try db.inTransaction {
            try db.apply(changeset) { conflict in
                switch conflict.kind {
                case .data, .conflict: .replace
                default: .omit
                }
            }
            return .rollback
        }
    }
}
