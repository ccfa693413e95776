import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct PageTokenTests {
    private typealias Player = Sport.Player

    /// A token of a page that ends with a row of these values.
    private func token(_ values: any DatabaseValueConvertible...) throws -> PageToken {
        try DatabaseQueue().write { db in
            let names = values.indices.map { "c\($0)" }
            try db.execute(sql: "CREATE TABLE t (\(names.joined(separator: ", ")))")
            for _ in 0..<2 {
                let marks = values.map { _ in "?" }.joined(separator: ", ")
                try db.execute(sql: "INSERT INTO t VALUES (\(marks))", arguments: StatementArguments(values))
            }
            let page = try Table("t").order(names.map { Column($0) }).page(size: 1).fetch(db)
            let next = try #require(page.next)
            let rest = try Table("t").order(names.map { Column($0) }).page(size: 1, after: PageToken(next.text)).fetch(
                db)
            #expect(rest.items.count == 1 && rest.next == nil)
            return next
        }
    }

    @Test func theTextHasTheValues() throws {
        for token in [
            try token(1), try token(Int64.min, Int64.max), try token(0.1, -0.0, Double.infinity, 1e-310),
            try token("", "é\u{0}x", String(repeating: "long ", count: 100)),
            try token([UInt8]([0, 255]), [UInt8](), DatabaseValue.null),
        ] {
            let text = token.text
            #expect(
                text.utf8.allSatisfy {
                    "-_".utf8.contains($0) || Character(UnicodeScalar($0)).isLetter
                        || Character(UnicodeScalar($0)).isNumber
                })
            #expect(try PageToken(text) == token && text == token.description)
        }
    }

    @Test func otherTextsAreRefused() throws {
        let text = try token(1, "x").text
        var texts = ["", "x", "AA", "AQA", text + "A", text + "=", String(text.dropLast()), " " + text, "é", "a+b/"]
        texts += (1..<text.count).map { String(text.prefix($0)) }
        for wrong in texts {
            // A shorter text may end with another value.
            guard let token = expectTokenOrError(wrong) else { continue }
            try withSport { db in
                #expect(throws: PageTokenError.otherOrder) { try Player.all().page(size: 1, after: token).fetch(db) }
            }
        }
        #expect(throws: PageTokenError.malformed) { try PageToken("") }
        #expect("\(PageTokenError.malformed)" == "This isn't a page token: begin with the first page.")
    }

    private func expectTokenOrError(_ text: String) -> PageToken? {
        do { return try PageToken(text) } catch {
            #expect(error == .malformed)
            return nil
        }
    }

    @Test func aTokenBelongsToOneOrder() throws {
        try withSport { db in
            let token = try Player.order(\.score).page(size: 1).fetch(db).next
            let others: [QueryInterfaceRequest<Player>] = [
                Player.order(\.score.desc), Player.order(\.id), Player.order(\.score.ascNullsLast), Player.all(),
                Player.order { [$0.score, $0.name] }, Player.order(\.teamId),
                Player.order { $0.score.collating(.nocase) },
            ]
            for request in others {
                #expect(throws: PageTokenError.otherOrder) { try request.page(size: 1, after: token).fetch(db) }
                #expect(throws: PageTokenError.otherOrder) { try request.page(size: 1, before: token).fetch(db) }
            }
            // The conditions may change, and the columns.
            let page = try Player.filter { $0.score > 100 }.order(\.score).page(size: 1, after: token).fetch(db)
            #expect(page.items.map(\.id) == [3])
        }
    }

    @Test func tokensAreSigned() throws {
        struct NoKey: Error {}
        let token = try token(1)
        let sign = { (bytes: [UInt8]) in bytes.reversed() + [7] }
        let text = token.text(signature: sign)
        #expect(try PageToken(text, signature: sign) == token)
        #expect(throws: PageTokenError.malformed) { try PageToken(text) }
        #expect(throws: PageTokenError.malformed) { try PageToken(token.text, signature: sign) }
        #expect(throws: PageTokenError.wrongSignature) { try PageToken(text) { $0 + [7] } }
        #expect(throws: PageTokenError.wrongSignature) { try PageToken(text) { $0.reversed() } }
        #expect(throws: PageTokenError.wrongSignature) { try PageToken(token.text + ".", signature: { _ in [] }) }
        #expect(throws: NoKey.self) { try PageToken(text) { _ in throw NoKey() } }
        #expect(throws: NoKey.self) { try token.text { _ in throw NoKey() } }
    }

    @Test func pagesAreCoded() throws {
        try withSport { db in
            let page = try Player.order(\.score).page(size: 1).fetch(db)
            let coded = try JSONEncoder().encode(page)
            #expect(try JSONDecoder().decode(RecordPage<Player>.self, from: coded) == page)
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(RecordPage<Player>.self, from: Data(#"{"items":[],"next":"x"}"#.utf8))
            }
            #expect(page.map(\.name) == RecordPage(items: ["Dan"], next: page.next))
            let numbered = try Player.order(\.score).page(number: 1, size: 2).fetch(db).map(\.id)
            let decoded = try JSONDecoder().decode(NumberedPage<Int64>.self, from: JSONEncoder().encode(numbered))
            #expect(decoded == numbered && decoded.items == [4, 1])
        }
    }
}
