import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Requests made of chance, with hostile names and values, find what an evaluation in Swift finds.
@Suite struct RandomRequestTests {
    @Test func randomRequestsFindWhatTheyDescribe() throws {
        let random = SeededGenerator()
        print("RandomRequestTests.randomRequestsFindWhatTheyDescribe seed: \(random.seed)")
        try check(random, schemas: 40, requests: 10)
    }

    private func check(_ random: SeededGenerator, schemas: Int, requests: Int) throws {
        var random = random
        var foundRows = 0
        for number in 0..<schemas {
            let schema = RandomSchema(using: &random)
            let descriptions = (0..<requests).map { _ in RandomRequest(schema: schema, using: &random) }
            try DatabaseQueue().write { db in
                try schema.create(db)
                for (index, description) in descriptions.enumerated() {
                    let place = "seed \(random.seed), schema \(number), request \(index)"
                    do {
                        try check(db, description, place)
                    } catch {
                        Issue.record(error, "\(place): \(description)")
                    }
                    foundRows += description.rows.count
                }
            }
        }
        // Conditions that let nothing through would agree on nothing.
        #expect(foundRows > schemas * requests / 2)
    }

    private func check(_ db: Database, _ description: RandomRequest, _ place: String) throws {
        let request = description.request
        let sql = try request.sql(db)
        let rows = try Row.fetchAll(db, request)
        let expected = texts(description.rows, isOrdered: description.isOrdered)
        let found = texts(rows.map { Array($0.databaseValues) }, isOrdered: description.isOrdered)
        #expect(found == expected, "\(place): \(sql)")
        // The same with the values written into the text.
        let writtenRows = try Row.fetchAll(db, sql: sql).map { Array($0.databaseValues) }
        let written = texts(writtenRows, isOrdered: description.isOrdered)
        #expect(written == expected, "\(place), as text: \(sql)")
        let count = try request.fetchCount(db)
        #expect(count == expected.count, "\(place), counted: \(sql)")
        let isEmpty = try request.isEmpty(db)
        #expect(isEmpty == expected.isEmpty, "\(place), is empty: \(sql)")
        guard let row = rows.first else { return }
        #expect(Array(row.columnNames) == description.columns, "\(place), names of columns: \(sql)")
        // A name may mean several columns of joined tables.
        if description.isJoined { return }
        for (name, value) in zip(description.columns, row.databaseValues) {
            let named: DatabaseValue? = row[name]
            #expect(named.map(text) == text(value), "\(place), column \(name): \(sql)")
        }
    }

    /// Rows without an order are sorted.
    private func texts(_ rows: [[DatabaseValue]], isOrdered: Bool) -> [String] {
        let texts = rows.map { $0.map(text).joined(separator: ", ") }
        return isOrdered ? texts : texts.sorted()
    }

    /// Another text for values that differ in storage class or content; Swift takes some texts of other bytes as equal.
    private func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let number): "integer \(number)"
        case .double(let number): "real \(number)"
        case .string(let text): "text \(Array(text.utf8))"
        case .blob(let bytes): "blob \(Array(bytes))"
        }
    }
}
