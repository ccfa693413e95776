import Quarry
import Testing

@Suite struct WindowFunctionsSamples {
    struct Day: TableRecord {
        enum Columns {
            static let date = Column("date")
            static let shop = Column("shop")
            static let sales = Column("sales")
        }
    }

    private func withDays(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE day (date TEXT, shop TEXT, sales INTEGER);
                    INSERT INTO day VALUES
                        ('01', 'a', 5), ('02', 'a', 7), ('03', 'a', 6), ('01', 'b', 1), ('02', 'b', 1), ('03', 'b', 4);
                    """)
            try body(db)
        }
    }

    @Test func places() throws {
        try withDays { db in
            let place = rank().over(partitionBy: Column("shop"), orderBy: Column("sales").desc)
            let ranked = try Day.select({ ($0.shop, $0.date, place) }, as: (String, String, Int).self).fetchAll(db)
            #expect(ranked.count == 6)
        }
    }

    @Test func frames() throws {
        try withDays { db in
            let week = WindowFrame.rows(from: .preceding(6), to: .currentRow)
            let trend = average(Column("sales")).over(partitionBy: Column("shop"), orderBy: Column("date"), frame: week)
            let growth =
                Column("sales") - lag(Column("sales")).over(partitionBy: Column("shop"), orderBy: Column("date"))
            let days = try Day.select({ ($0.date, trend, growth) }, as: (String, Double, Int?).self).fetchAll(db)
            #expect(days.count == 6)
        }
    }

    @Test func named() throws {
        try withDays { db in
            let rows =
                try Day
                .select(
                    Column("shop"), rank().over("best").forKey("rank"), cumeDist().over("best").forKey("share"),
                    as: Row.self
                )
                .window("best", SQLWindow(partitionBy: [Column("shop")], orderBy: [Column("sales").desc]))
                .fetchAll(db)
            #expect(rows.count == 6)
        }
    }

    @Test func best() throws {
        try withDays { db in
            let number = rowNumber().over(partitionBy: Column("shop"), orderBy: Column("sales").desc).forKey("number")
            let best = try Day.annotated(with: number)
                .asTable()
                .filter(Column("number") <= 2)
                .select((Column("shop"), Column("sales")), as: (String, Int).self)
                .fetchAll(db)
            #expect(best.count == 4)
        }
    }
}
