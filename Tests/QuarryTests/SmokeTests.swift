import Quarry
import Testing

@Suite struct ImportTests {
    @Test func quarryReexportsCoreAndSQL() {
        #expect(Column("a").name == "a")
        #expect(DatabaseValue.null.isNull)
    }
}
