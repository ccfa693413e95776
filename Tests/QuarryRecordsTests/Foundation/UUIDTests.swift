import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct UUIDTests {
    private let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    private let bytes: [UInt8] = [
        0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F,
    ]

    @Test func isABlob() throws {
        let uuid = try #require(UUID(uuidString: text))
        try withConnection { db throws in
            #expect(try stored(uuid, in: db) == bytes.databaseValue)
            #expect(try read(UUID.self, from: bytes.databaseValue, in: db) == uuid)
        }
    }

    @Test func readsText() throws {
        let uuid = try #require(UUID(uuidString: text))
        try withConnection { db throws in
            for text in [text, text.lowercased(), "E621e1f8-c36C-495a-93fc-0c247A3e6E5f"] {
                #expect(try read(UUID.self, from: text.databaseValue, in: db) == uuid)
            }
        }
    }

    @Test(arguments: [
        "", "foo", "{E621E1F8-C36C-495A-93FC-0C247A3E6E5F}", "E621E1F8C36C495A93FC0C247A3E6E5F",
        "E621E1F8-C36C-495A-93FC-0C247A3E6E5", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F0",
        "G621E1F8-C36C-495A-93FC-0C247A3E6E5F", "E621E1F8-C36C-495A-93FC-0C247A3E6E5@",
        "E621E1F8_C36C-495A-93FC-0C247A3E6E5F", "E621E1F8-C36C-495A-93FC-0C247A3E6E\0\0",
        "E621E1F80C36C-495A-93FC-0C247A3E6E5F", "E621E1F8-C36C-495A-93FC-0C247A3E6Eé",
    ])
    func readsNoOtherText(text: String) throws {
        try withConnection { db throws in
            #expect(try read(UUID.self, from: text.databaseValue, in: db) == nil)
        }
    }

    @Test func readsNoOtherValues() throws {
        try withConnection { db throws in
            for value in [.null, 1.databaseValue, 1.5.databaseValue] as [DatabaseValue] {
                #expect(try read(UUID.self, from: value, in: db) == nil)
            }
            for bytes in [[], Array(bytes.dropLast()), bytes + [0], Array(text.utf8)] {
                #expect(try read(UUID.self, from: bytes.databaseValue, in: db) == nil)
            }
        }
    }

    @Test func randomUUIDsComeBack() throws {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        for _ in 0..<2000 {
            var uuid = UUID().uuid
            withUnsafeMutableBytes(of: &uuid) { bytes in
                for index in bytes.indices { bytes[index] = .random(in: 0...255, using: &generator) }
            }
            let value = UUID(uuid: uuid)
            #expect(UUID.fromDatabaseValue(value.databaseValue) == value, "seed \(generator.seed)")
            #expect(UUID.fromDatabaseValue(value.uuidString.databaseValue) == value, "seed \(generator.seed)")
        }
    }
}
