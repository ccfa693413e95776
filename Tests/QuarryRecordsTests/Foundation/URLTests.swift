import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct URLTests {
    @Test(arguments: [
        "http://example.com", "https://user:pw@example.com:8080/a/b.html?q=1&r=%20#f", "file:///tmp/x", "foo",
        "mailto:a@b.c", "https://example.com/%C3%A9",
    ])
    func comesBackAsItWas(text: String) throws {
        let url = try #require(URL(string: text))
        try withConnection { db throws in
            #expect(try stored(url, in: db) == text.databaseValue)
            #expect(try read(URL.self, from: text.databaseValue, in: db) == url)
            #expect(try read(URL.self, from: Array(text.utf8).databaseValue, in: db) == url)
        }
    }

    @Test func storesTheAbsoluteString() throws {
        let base = try #require(URL(string: "http://example.com/a/"))
        let url = try #require(URL(string: "b", relativeTo: base))
        #expect(url.databaseValue == "http://example.com/a/b".databaseValue)
    }

    @Test func encodesWhatAURLCannotHave() throws {
        try withConnection { db throws in
            let url = try read(URL.self, from: "http://example.com/a b".databaseValue, in: db)
            #expect(url?.absoluteString == "http://example.com/a%20b")
        }
    }

    @Test func readsNoOtherValues() throws {
        try withConnection { db throws in
            for value in [
                .null, "".databaseValue, "http://[".databaseValue, 1.databaseValue, 1.5.databaseValue,
                ([0xFF] as [UInt8]).databaseValue,
            ] as [DatabaseValue] {
                #expect(try read(URL.self, from: value, in: db) == nil)
            }
        }
    }
}
