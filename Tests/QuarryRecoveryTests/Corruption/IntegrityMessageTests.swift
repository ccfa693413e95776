import Quarry
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// The objects that SQLite's messages name, in the wordings of several versions.
@Suite("Messages of checks") struct IntegrityMessageTests {
    struct Facts: Equatable {
        var kind: IntegrityReport.Problem.Kind
        var table: String?
        var index: String?
        var page: Int?
        var root: Int?
    }

    @Test(arguments: [
        ("row 3 missing from index player name", Facts(kind: .index, index: "player name")),
        ("wrong # of entries in index i", Facts(kind: .index, index: "i")),
        ("non-unique entry in index i", Facts(kind: .index, index: "i")),
        ("rowid not at end-of-record for row 4 of index i", Facts(kind: .index, index: "i")),
        ("row 4 of index i out of order", Facts(kind: .index, index: "i")),
        ("NULL value in t.c", Facts(kind: .constraint, table: "t")),
        ("TEXT value in a.b.c", Facts(kind: .constraint, table: "a.b")),
        ("CHECK constraint failed in t", Facts(kind: .constraint, table: "t")),
        ("Tree 2 page 5 cell 3: Rowid 9 out of order", Facts(kind: .structure, page: 5, root: 2)),
        ("On tree page 5 cell 3: 2nd reference to page 7", Facts(kind: .structure, page: 5, root: 5)),
        ("Page 7 is never used", Facts(kind: .structure, page: 7)),
        ("Page 7: btreeInitPage() returns error code 11", Facts(kind: .structure, page: 7)),
        ("malformed inverted index for FTS5 table main.a", Facts(kind: .structure, table: "a")),
        ("database disk image is malformed", Facts(kind: .structure)),
        ("", Facts(kind: .structure)),
    ])
    func messagesNameTheirObjects(text: String, facts: Facts) {
        let message = IntegrityMessage(text)
        #expect(
            Facts(
                kind: message.kind, table: message.table, index: message.index, page: message.page,
                root: message.rootPage) == facts)
    }

    @Test func rowsAreSplitIntoProblems() {
        #expect(
            IntegrityMessage.lines("*** in database main ***\nPage 3 is never used\nPage 4 is never used") == [
                "Page 3 is never used", "Page 4 is never used",
            ])
    }

    @Test(arguments: [
        ("CREATE VIRTUAL TABLE a USING fts5(b, content='')", "fts5", true),
        ("create virtual table using1 using FTS4 (b, content = \"\" )", "fts4", true),
        ("CREATE VIRTUAL TABLE \"a using b\"\n\tUSING\n rtree(id, x, y)", "rtree", false),
        ("CREATE VIRTUAL TABLE a USING fts5(b, content='t')", "fts5", false),
        ("CREATE TABLE a (b)", "", false),
    ])
    func modulesAreRead(sql: String, module: String, isContentless: Bool) {
        #expect(VirtualTableText(sql).module == module)
        #expect(VirtualTableText(sql).isContentless == isContentless)
    }
}
