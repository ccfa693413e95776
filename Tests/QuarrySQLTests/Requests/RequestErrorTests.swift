import QuarryCore
import QuarryExpectations
import QuarrySQL
import Testing

/// Requests that can't be written name the part.
@Suite struct RequestErrorTests {
    private typealias Player = Sport.Player

    @Test func requestsThatCannotBeWrittenNameThePart() {
        let unknown = TableAlias<Player>()
        let table = CommonTableExpression<Row>(named: "t", sql: "SELECT 1 AS a")
        expectError(.SQLITE_MISUSE, "a request selects nothing") {
            try rendered(Player.select([any SQLSelectable]()))
        }
        expectError(
            .SQLITE_MISUSE,
            "an order written as SQL can't be reversed: order by SQL(…).sqlExpression, or by "
                + "SQL that is the reverse"
        ) {
            try rendered(Player.order(sql: "name DESC").reversed())
        }
        expectError(
            .SQLITE_MISUSE, "column score belongs to an alias that the request doesn't use: call aliased(_:) with it"
        ) {
            try rendered(Player.filter(unknown[Column("score")] > 1))
        }
        expectError(.SQLITE_MISUSE, "table player has two names in one request: a, b") {
            try rendered(Player.all().aliased(TableAlias(name: "a")).aliased(TableAlias(name: "b")))
        }
        expectError(.SQLITE_MISUSE, #"table player has no unique key on "score", "teamId""#) {
            try rendered(Player.filter(key: ["score": 1, "teamId": 2]))
        }
        expectError(.SQLITE_MISUSE, #"table player has no unique key on "id", "nope""#) {
            try rendered(Player.filter(key: ["id": 1, "nope": 2]))
        }
        expectError(.SQLITE_MISUSE, "table player has no unique key on no column") {
            try rendered(Player.filter(key: [:]))
        }
        expectError(.SQLITE_MISUSE, "the columns of t aren't known: name the columns to select") {
            try rendered(table.all().select(.allColumns(excluding: ["a"])).with(table))
        }
    }
}
