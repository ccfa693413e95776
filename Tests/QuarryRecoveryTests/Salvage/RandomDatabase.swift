import Foundation
import Quarry
import QuarryRecovery
import QuarryTestSupport

/// A database with a random schema and random rows.
struct RandomDatabase {
    let path: String
    private(set) var tables: [String] = []
    private(set) var pageSize = 4096
    private(set) var encoding = "UTF-8"
    private(set) var hasLog = false

    /// - parameter path: the file, with its log if it has one, as a killed program would leave them.
    init(path: String, using generator: inout SeededGenerator) throws {
        self.path = path
        let working = path + "-working"
        pageSize = [512, 1024, 4096, 4096, 8192].randomElement(using: &generator)!
        encoding = ["UTF-8", "UTF-8", "UTF-16le", "UTF-16be"].randomElement(using: &generator)!
        hasLog = Int.random(in: 0..<3, using: &generator) == 0
        let autoVacuum = [0, 0, 1, 2].randomElement(using: &generator)!
        do {
            var configuration = Configuration()
            configuration.maintenance = .off
            configuration.wal = .unmanaged
            let (encoding, pageSize) = (encoding, pageSize)
            configuration.prepareDatabase { db in
                try db.execute(
                    sql: """
                        PRAGMA encoding = '\(encoding)'; PRAGMA page_size = \(pageSize);
                        PRAGMA auto_vacuum = \(autoVacuum); PRAGMA synchronous = OFF;
                        PRAGMA secure_delete = OFF;
                        """)
            }
            let queue = try DatabaseQueue(path: working, configuration: configuration)
            var random = generator
            try queue.writeWithoutTransaction { db in
                try db.inTransaction {
                    try fill(db, using: &random)
                    return .commit
                }
                if hasLog {
                    try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL")
                    for _ in 0..<3 {
                        try db.inTransaction {
                            try changeRows(db, using: &random)
                            return .commit
                        }
                    }
                }
                // The connection is open: its files are those of a program that was killed.
                try FileManager.default.copyItem(atPath: working, toPath: path)
                if hasLog { try FileManager.default.copyItem(atPath: working + "-wal", toPath: path + "-wal") }
            }
            generator = random
            try queue.close()
        }
        try FileManager.default.removeItem(atPath: working)
    }

    private static let types = ["INTEGER", "TEXT", "REAL", "BLOB", "NUMERIC", "VARCHAR(10)", ""]

    private mutating func fill(_ db: Database, using generator: inout SeededGenerator) throws {
        for number in 0..<Int.random(in: 1...5, using: &generator) {
            let name = ["t\(number)", "table \(number)", "été\(number)"].randomElement(using: &generator)!
            tables.append(name)
            let count = Int.random(in: 1...6, using: &generator)
            var columns = (0..<count).map { "c\($0) \(Self.types.randomElement(using: &generator)!)" }
            var end = ""
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: columns.insert("id INTEGER PRIMARY KEY", at: 0)
            case 1: columns.insert("id INTEGER PRIMARY KEY AUTOINCREMENT", at: 0)
            case 2:
                columns.append("k TEXT, n INTEGER, PRIMARY KEY (n, k)")
                end = " WITHOUT ROWID"
            case 3: columns.append("u TEXT UNIQUE")
            default: break
            }
            try db.execute(
                sql: "CREATE TABLE \(name.quotedDatabaseIdentifier) (\(columns.joined(separator: ", ")))\(end)")
            if Bool.random(using: &generator) {
                try db.execute(sql: "CREATE INDEX i\(number) ON \(name.quotedDatabaseIdentifier) (c0)")
            }
        }
        for name in tables {
            try insertRows(
                db, name, Int.random(in: 0...[10, 300].randomElement(using: &generator)!, using: &generator), &generator
            )
            if Int.random(in: 0..<4, using: &generator) == 0 {
                try db.execute(
                    sql: "ALTER TABLE \(name.quotedDatabaseIdentifier) ADD COLUMN added TEXT DEFAULT 'later'")
                try insertRows(db, name, 5, &generator)
            }
        }
        try db.execute(sql: "CREATE VIEW v AS SELECT * FROM \(tables[0].quotedDatabaseIdentifier)")
        try changeRows(db, using: &generator)
    }

    private func changeRows(_ db: Database, using generator: inout SeededGenerator) throws {
        for name in tables where Bool.random(using: &generator) {
            let remainder = Int.random(in: 0..<5, using: &generator)
            try db.execute(
                sql: "DELETE FROM \(name.quotedDatabaseIdentifier) WHERE length(c0) % 5 = \(remainder)")
            try insertRows(db, name, Int.random(in: 0...30, using: &generator), &generator)
        }
    }

    private func insertRows(
        _ db: Database, _ name: String, _ count: Int, _ generator: inout SeededGenerator
    ) throws {
        let columns = try db.columns(in: name)
        let names = columns.map { $0.name.quotedDatabaseIdentifier }.joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let statement = try db.makeStatement(
            sql: "INSERT OR IGNORE INTO \(name.quotedDatabaseIdentifier) (\(names)) VALUES (\(marks))")
        for _ in 0..<count {
            let values = columns.map { column -> DatabaseValue in
                switch column.name {
                case "id":
                    Bool.random(using: &generator)
                        ? .null : Int.random(in: 1...100_000, using: &generator).databaseValue
                case "n": Int.random(in: 0...1000, using: &generator).databaseValue
                case "k", "u": Self.text(&generator).databaseValue
                default: Self.value(&generator)
                }
            }
            try statement.execute(arguments: StatementArguments(values))
        }
    }

    private static func text(_ generator: inout SeededGenerator) -> String {
        let length = [3, 20, 200].randomElement(using: &generator)!
        return String(
            (0..<Int.random(in: 0...length, using: &generator)).map { _ in
                "abcdefg é日😀".randomElement(using: &generator)!
            })
    }

    private static func value(_ generator: inout SeededGenerator) -> DatabaseValue {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: return .null
        case 1, 2: return Int64.random(in: -200...200, using: &generator).databaseValue
        case 3: return Int64.random(in: .min ... .max, using: &generator).databaseValue
        case 4: return Double.random(in: -1e6...1e6, using: &generator).databaseValue
        case 5: return Int.random(in: 0...1, using: &generator).databaseValue
        case 6:
            let count = Int.random(in: 0...[100, 3000, 20_000].randomElement(using: &generator)!, using: &generator)
            return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }).databaseValue
        default: return text(&generator).databaseValue
        }
    }
}

/// Damage of random pages.
enum Damage: CaseIterable {
    case overwritten
    case zeroed
    case flipped
    case truncated
    case firstPage
    case interiorPages
    case log

    /// Damages the files of a database.
    ///
    /// - parameter interior: the numbers of its interior pages.
    func apply(
        to path: String, pageSize: Int, interior: [UInt32], using generator: inout SeededGenerator
    ) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let count = bytes.count / pageSize
        func change(_ page: Int, _ generator: inout SeededGenerator) {
            let range = (page - 1) * pageSize..<page * pageSize
            guard range.upperBound <= bytes.count else { return }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: for index in range { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
            case 1: for index in range { bytes[index] = 0 }
            default:
                for _ in 0..<Int.random(in: 1...20, using: &generator) {
                    bytes[Int.random(in: range, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                }
            }
        }
        switch self {
        case .overwritten, .zeroed, .flipped:
            for _ in 0..<Int.random(in: 1...max(1, count / 8), using: &generator) {
                change(Int.random(in: 2...max(2, count), using: &generator), &generator)
            }
        case .truncated: bytes.removeLast(Int.random(in: 1...max(1, bytes.count / 2), using: &generator))
        case .firstPage:
            let all = Bool.random(using: &generator)
            for index in 0..<(all ? pageSize : 100) { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
        case .interiorPages: for page in interior where page > 1 { change(Int(page), &generator) }
        case .log:
            let log = path + "-wal"
            guard var data = try? [UInt8](Data(contentsOf: URL(fileURLWithPath: log))), !data.isEmpty else {
                return change(Int.random(in: 1...count, using: &generator), &generator)
            }
            data[Int.random(in: 0..<data.count, using: &generator)] ^= 0x10
            try Data(data).write(to: URL(fileURLWithPath: log))
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}
