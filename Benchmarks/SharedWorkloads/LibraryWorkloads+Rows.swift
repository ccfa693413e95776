import BenchSupport

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Rows 1 to 4: reading whole tables.
extension LibraryWorkloads {
    static func cursorByPosition(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            var sum = 0
            let rows = try Row.fetchCursor(db, sql: BenchSQL.selectItems)
            while let row = try rows.next() {
                sum &+= Checksum.of(
                    row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9])
            }
            return sum
        }
    }

    static func cursorUntyped(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            var sum = 0
            let rows = try Row.fetchCursor(db, sql: BenchSQL.selectItems)
            while let row = try rows.next() {
                for index in 0..<10 {
                    let value: DatabaseValue = row[index]
                    if case .int64(let integer) = value.storage {
                        sum &+= (index + 1) &* Int(integer)
                    }
                }
            }
            return sum
        }
    }

    static func cursorByName(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            var sum = 0
            let rows = try Row.fetchCursor(db, sql: BenchSQL.selectItems)
            while let row = try rows.next() {
                sum &+= Checksum.of(
                    row["i0"], row["i1"], row["i2"], row["i3"], row["i4"],
                    row["i5"], row["i6"], row["i7"], row["i8"], row["i9"])
            }
            return sum
        }
    }

    static func playersByPosition(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            var sum = 0
            let rows = try Row.fetchCursor(db, sql: BenchSQL.selectContacts)
            while let row = try rows.next() {
                sum &+= Checksum.ofContact(
                    id: row[0], name: row[1], email: row[2], score: row[3], bonus: row[4], teamId: row[5])
            }
            return sum
        }
    }

    static func playersByName(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            var sum = 0
            let rows = try Row.fetchCursor(db, sql: BenchSQL.selectContacts)
            while let row = try rows.next() {
                sum &+= Checksum.ofContact(
                    id: row["id"], name: row["name"], email: row["email"], score: row["score"], bonus: row["bonus"],
                    teamId: row["teamId"])
            }
            return sum
        }
    }

    static func rowArray(_ fixtures: Fixtures) throws -> Workload {
        let queue = try DatabaseQueue(path: fixtures.readPath)
        @Sendable func rows() throws -> [Row] {
            try queue.read { try Row.fetchAll($0, sql: BenchSQL.selectItems) }
        }
        return Workload(
            .sync { _ in
                try rows().reduce(0) { sum, row in
                    sum
                        &+ Checksum.of(
                            row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9])
                }
            },
            keep: rows)
    }

    static func structsByName(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            try NamedItem.fetchAll(db, sql: BenchSQL.selectItems).reduce(0) { $0 &+ $1.checksum }
        }
    }

    static func structsDecodable(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            try CodableItem.fetchAll(db, sql: BenchSQL.selectItems).reduce(0) { $0 &+ $1.checksum }
        }
    }

    static func datedPlayersByName(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            try Player.fetchAll(db, sql: BenchSQL.selectPlayers).reduce(0) { $0 &+ $1.checksum }
        }
    }

    static func datedPlayersDecodable(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            try CodablePlayer.fetchAll(db, sql: BenchSQL.selectPlayers).reduce(0) { $0 &+ $1.checksum }
        }
    }

    static func structsByPosition(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            try Item.fetchAll(db, sql: BenchSQL.selectItems).reduce(0) { $0 &+ $1.checksum }
        }
    }

    static func stringArray(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            Checksum.of(try String.fetchAll(db, sql: BenchSQL.selectNames))
        }
    }

    static func intArray(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            Checksum.of(try Int.fetchAll(db, sql: BenchSQL.selectInts))
        }
    }

    static func optionalArray(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            Checksum.of(try Optional<Int64>.fetchAll(db, sql: BenchSQL.selectTeams))
        }
    }

    static func scan(
        _ fixtures: Fixtures, _ body: @escaping @Sendable (Database) throws -> Int
    ) throws -> Workload {
        let queue = try DatabaseQueue(path: fixtures.readPath)
        return .sync { _ in try queue.read(body) }
    }
}
