package import Foundation

/// The number of rows of the tables before `--scale`.
package enum FixtureSize {
    package static let items = 200_000
    package static let players = 100_000
    package static let payments = 100_000
}

/// The statements that all peers run, so that they can't differ by accident.
package enum BenchSQL {
    package static let createItem =
        "CREATE TABLE item(i0 INTEGER, i1 INTEGER, i2 INTEGER, i3 INTEGER, i4 INTEGER, "
        + "i5 INTEGER, i6 INTEGER, i7 INTEGER, i8 INTEGER, i9 INTEGER)"
    package static let createPlayer =
        "CREATE TABLE player(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, "
        + "score INTEGER NOT NULL, bonus DOUBLE NOT NULL, teamId INTEGER, createdAt TEXT NOT NULL, avatar BLOB)"
    package static let createPayment =
        "CREATE TABLE payment(id BLOB NOT NULL, amount TEXT NOT NULL, receipt BLOB NOT NULL)"
    package static let selectItems = "SELECT i0, i1, i2, i3, i4, i5, i6, i7, i8, i9 FROM item"
    package static let selectPlayers = "SELECT * FROM player"
    package static let selectInts = "SELECT i0 FROM item"
    package static let selectNames = "SELECT name FROM player"
    package static let selectTeams = "SELECT teamId FROM player"
    package static let selectContacts = "SELECT id, name, email, score, bonus, teamId FROM player"
    package static let selectDates = "SELECT createdAt FROM player"
    package static let selectPaymentIDs = "SELECT id FROM payment"
    package static let selectAmounts = "SELECT amount FROM payment"
    package static let selectReceipts = "SELECT receipt FROM payment"
    /// The identifiers of migrations.
    package static let migrations = (1...100).map { "2026-01-01 migration number \(1000 + $0)" }
    /// The tables of the rows about observation: one that is written, and a hundred others.
    package static let createObserved =
        "CREATE TABLE observed(id INTEGER PRIMARY KEY, score INTEGER NOT NULL); INSERT INTO observed VALUES (1, 0);"
        + (0..<100).map { "CREATE TABLE other\($0)(id INTEGER PRIMARY KEY, score INTEGER NOT NULL);" }.joined()
    package static let insertObserved = """
        WITH RECURSIVE n(i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        INSERT INTO observed SELECT i, 0 FROM n
        """
    /// The number of commits over which a reader advances.
    package static let commitCount = 1_000
    package static let raiseObserved = "UPDATE observed SET score = score + 1 WHERE id = 1"
    package static let raiseAllObserved = "UPDATE observed SET score = score + 1"
    package static let selectObserved = "SELECT score FROM observed WHERE id = 1"
    package static let resetObserved = "UPDATE observed SET score = 0"
    package static let selectScore = "SELECT score FROM player WHERE id = 1"
    package static let selectArgument = "SELECT ?"
    package static let insertItem =
        "INSERT INTO item(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    package static let insertItemNamed =
        "INSERT INTO item(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9) "
        + "VALUES (:i0, :i1, :i2, :i3, :i4, :i5, :i6, :i7, :i8, :i9)"
    package static let itemChecksum = "SELECT count(*) + coalesce(sum(i0 + i9), 0) FROM item"
    package static let deleteItems = "DELETE FROM item"
    package static let insertPlayer =
        "INSERT INTO player(id, name, email, score, bonus, teamId, createdAt, avatar) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    package static let updatePlayer =
        "UPDATE player SET name = ?, email = ?, score = ?, bonus = ?, teamId = ?, createdAt = ?, avatar = ? "
        + "WHERE id = ?"
    package static let playerChecksum = """
        SELECT count(*) + coalesce(sum(id + length(name) + length(email) + score + CAST(bonus * 100 AS INTEGER)
            + coalesce(teamId, -1) + CAST(strftime('%s', createdAt) AS INTEGER) + length(createdAt)
            + coalesce(length(avatar), -1)), 0) FROM player
        """
    package static let deletePlayers = "DELETE FROM player"
    package static let selectPlayer = "SELECT * FROM player WHERE id = ?"
    package static let selectBestPlayers = "SELECT * FROM player WHERE score > ? ORDER BY name LIMIT 10"
    /// How many players row 8.4 has; it finds ten of them.
    package static let bestPlayersCount = 20
    package static let manySelects = (1...1_000).map { limit in
        "SELECT * FROM player WHERE score > ? ORDER BY name LIMIT \(limit)"
    }
}

/// The values that all peers bind in rows 12.5 and 12.6.
package enum BenchValues {
    /// A thousand moments of the years 2017 and 2018, each with half a second.
    package static let dates = (0..<1_000).map { Date(timeIntervalSince1970: 1_500_000_000.5 + Double($0 * 49_999)) }
    /// The values of the player with a key.
    package struct Player: Sendable {
        package let id: Int64
        package let name: String
        package let email: String
        package let score: Int
        package let bonus: Double
        package let teamId: Int64?
        package let createdAt: Date
        package let avatar: Data?
    }

    /// Players with the keys from 1 on, as the table of the fixtures has them, but for their dates.
    package static func players(_ count: Int) -> [Player] {
        (1...count).map { key in
            let digits = String(key + 1_000_000).dropFirst()
            return Player(
                id: Int64(key), name: "Player\(digits)", email: "player\(digits)@example.org",
                score: key * 7_919 % 1_000,
                bonus: Double(key % 400) * 0.25, teamId: key % 4 != 0 ? Int64(key % 50 + 1) : nil,
                createdAt: dates[key % 1_000], avatar: key % 2 == 0 ? Data(count: 64) : nil)
        }
    }

    /// A thousand texts of 24 bytes: too long to lie in the string itself.
    package static let texts = (0..<1_000).map { "player\(100_000 + $0)@example.org" }
}

/// Database files for the workloads, in a folder that lives until `remove()`: in memory where the system has such a
/// place.
package final class Fixtures: Sendable {
    package let itemCount: Int
    package let playerCount: Int
    package let paymentCount: Int
    private let folder: URL
    private let diskFolder: URL
    private let template: URL

    /// - parameter scale: shrinks the tables.
    /// - parameter build: creates the tables with the given numbers of rows in the file at the path.
    package init(
        scale: Double, build: (_ path: String, _ items: Int, _ players: Int, _ payments: Int) throws -> Void
    ) throws {
        itemCount = FixtureSize.items.scaled(by: scale)
        playerCount = FixtureSize.players.scaled(by: scale)
        paymentCount = FixtureSize.payments.scaled(by: scale)
        let sharedMemory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let parent =
            FileManager.default.isWritableFile(atPath: sharedMemory.path)
            ? sharedMemory : FileManager.default.temporaryDirectory
        let name = "quarry-bench-\(UUID().uuidString)"
        folder = parent.appendingPathComponent(name, isDirectory: true)
        diskFolder = FileManager.default.temporaryDirectory.appendingPathComponent(name + "-disk", isDirectory: true)
        for folder in [folder, diskFolder] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        template = folder.appendingPathComponent("template.sqlite")
        do {
            try build(template.path, itemCount, playerCount, paymentCount)
        } catch {
            remove()
            throw error
        }
    }

    /// Deletes the folders with all files. A folder that is gone already is fine.
    package func remove() {
        for folder in [folder, diskFolder] { try? FileManager.default.removeItem(at: folder) }
    }

    /// The tables, for reading only: all peers share the file.
    package var readPath: String { template.path }

    /// A file of the caller's own with the tables.
    package func copy() throws -> String {
        let url = newURL()
        try FileManager.default.copyItem(at: template, to: url)
        return url.path
    }

    /// The path of a file that doesn't exist yet.
    package func newPath() -> String {
        newURL().path
    }

    /// The path of a file that doesn't exist yet, in the directory for temporary files.
    package func newDiskPath() -> String {
        diskFolder.appendingPathComponent("\(UUID().uuidString).sqlite").path
    }

    /// The key that the lookup with this number asks for: spread over the table, the same for all peers.
    package func playerKey(_ number: Int) -> Int64 {
        Int64((number &* 7_919) % playerCount) + 1
    }

    /// The key of a lookup that asks for the same thousand players.
    package func hotPlayerKey(_ number: Int) -> Int64 { playerKey(number % 1_000) }

    private func newURL() -> URL {
        folder.appendingPathComponent("\(UUID().uuidString).sqlite")
    }
}

extension Int {
    /// A count, shrunk, but never to nothing: eight tasks still get some work each.
    func scaled(by scale: Double) -> Int {
        Swift.max(80, Int((Double(self) * scale).rounded()))
    }
}
