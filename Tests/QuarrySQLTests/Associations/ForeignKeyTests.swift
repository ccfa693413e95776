import QuarryCore
import QuarryExpectations
import QuarrySQL
import Testing

/// The columns of an association come from the schema.
@Suite struct ForeignKeyTests {
    @Test func keysThatTheSchemaLacksOrHasTwiceAreAskedFor() {
        expectError(
            .SQLITE_MISUSE, "table thing has no foreign key to pair: name the columns with using: ForeignKey([…])"
        ) { try rendered(Sport.Thing.joining(required: Sport.Thing.undeclared)) }
        expectError(
            .SQLITE_MISUSE,
            "table match has several foreign keys to team, (homeId) and (guestId): "
                + "choose one with using: ForeignKey([…])"
        ) { try rendered(Sport.Match.joining(required: Sport.Match.ambiguous)) }
        let narrow = Sport.Thing.belongsTo(Sport.Pair.self, using: ForeignKey(["x"]))
        expectError(
            .SQLITE_MISUSE,
            "the foreign key of thing with the columns (x) can't refer to pair with the columns (a, b): "
                + "the numbers of columns must be equal"
        ) { try rendered(Sport.Thing.joining(required: narrow)) }
    }
}
