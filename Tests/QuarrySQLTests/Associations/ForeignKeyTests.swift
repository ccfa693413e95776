import QuarryCore
import QuarrySQL
import Testing

/// The columns of an association come from the schema.
@Suite struct ForeignKeyTests {
    @Test func keysThatTheSchemaLacksOrHasTwiceAreAskedFor() {
        expectFailure(
            Sport.Thing.joining(required: Sport.Thing.undeclared), .SQLITE_MISUSE,
            "table thing has no foreign key to pair: name the columns with using: ForeignKey([…])")
        expectFailure(
            Sport.Match.joining(required: Sport.Match.ambiguous), .SQLITE_MISUSE,
            "table match has several foreign keys to team, (homeId) and (guestId): "
                + "choose one with using: ForeignKey([…])")
        let narrow = Sport.Thing.belongsTo(Sport.Pair.self, using: ForeignKey(["x"]))
        expectFailure(
            Sport.Thing.joining(required: narrow), .SQLITE_MISUSE,
            "the foreign key of thing with the columns (x) can't refer to pair with the columns (a, b): "
                + "the numbers of columns must be equal")
    }
}
