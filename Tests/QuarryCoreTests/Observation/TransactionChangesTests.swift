import QuarryTestSupport
import Testing

@testable import QuarryCore

/// The changes of a transaction with savepoints, compared with a list of all its changes.
@Suite struct TransactionChangesTests {
    private static let tables = ["a", "b", "c"].map { TableName(schema: "main", name: $0) }

    /// One change, and the savepoint that can take it back.
    private struct Entry {
        var depth: Int
        var table: TableName
        /// Nil for all columns.
        var columns: Set<String>?
        /// The rows; nil for all.
        var rows: Set<Int64>?
        /// Whether this is no change, but says that the rows of earlier changes aren't known.
        var isForgetting = false
    }

    private struct Model {
        var depth = 0
        var entries: [Entry] = []
        var events: [(depth: Int, rowID: Int64)] = []

        mutating func release(toDepth depth: Int) {
            guard depth < self.depth else { return }
            for index in entries.indices { entries[index].depth = min(entries[index].depth, depth) }
            for index in events.indices { events[index].depth = min(events[index].depth, depth) }
            self.depth = depth
        }

        mutating func rollBack(toDepth depth: Int) {
            entries.removeAll { $0.depth >= depth }
            events.removeAll { $0.depth >= depth }
            self.depth = depth
        }

        /// The parts that have changed, by table: `a.x[1]`, with `*` for all.
        var parts: Set<String> {
            var parts: Set<String> = []
            for table in tables {
                let own = entries.filter { $0.table == table }
                let areRowsKnown = own.allSatisfy { $0.rows != nil }
                let rows = own.reduce(into: Set<Int64>()) { $0.formUnion($1.rows ?? []) }
                let changes = own.filter { !$0.isForgetting }
                guard !changes.isEmpty, !areRowsKnown || !rows.isEmpty else { continue }
                let columns = changes.contains { $0.columns == nil } ? nil : changes.flatMap { $0.columns ?? [] }
                parts.insert(
                    DatabaseRegion(
                        table, columns: columns.map(Set.init),
                        rowIDs: areRowsKnown && rows.count <= RowChanges.maximumRowCount ? rows : nil
                    ).description)
            }
            return parts
        }
    }

    @Test func randomSequences() {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        // Few enough to be listed one by one.
        let statements = Self.tables.flatMap { table in
            [nil, ["x"], ["y"]].map { (columns: Set<String>?) in
                StatementAccesses(
                    reads: DatabaseRegion(), changes: DatabaseRegion(table, columns: columns), kinds: [],
                    isDefinition: false)
            }
        }
        for _ in 0..<300 {
            var changes = TransactionChanges(depth: 0)
            var model = Model()
            var rowTables: Set<TableName> = []
            var history: [String] = []
            for step in 0..<40 {
                switch Int.random(in: 0..<16, using: &generator) {
                case 0..<7:
                    let number = Int.random(in: statements.indices, using: &generator)
                    let table = Self.tables[number / 3]
                    let rows = Set(
                        (0..<Int.random(in: 0..<3, using: &generator)).map { _ in
                            Int64.random(in: 0..<6, using: &generator)
                        })
                    let isMany = Int.random(in: 0..<12, using: &generator) == 0
                    let known: Set<Int64>? = isMany ? nil : rows
                    let event = RowEvent(kind: .insert, rowID: Int64(step), table: 0, recipients: 1)
                    let told = RowChanges(rows: rowTables.contains(table) ? [table: known] : [:], events: [event])
                    changes.add(statements[number], rows: told)
                    changes.addRows(of: statements[number], told, rowTables: rowTables)
                    model.entries.append(
                        Entry(
                            depth: model.depth, table: table, columns: [nil, ["x"], ["y"]][number % 3],
                            rows: rowTables.contains(table) ? known : nil))
                    model.events.append((model.depth, Int64(step)))
                    history.append("change \(table.name) \(number % 3) \(known.map { "\($0)" } ?? "many")")
                case 7..<10:
                    changes.savepointDidBegin()
                    model.depth += 1
                    history.append("savepoint")
                case 10, 11:
                    let depth = Int.random(in: 0...model.depth, using: &generator)
                    changes.release(toDepth: depth)
                    model.release(toDepth: depth)
                    history.append("release to \(depth)")
                case 12, 13:
                    guard model.depth > 0 else { continue }
                    let depth = Int.random(in: 1...model.depth, using: &generator)
                    changes.rollBack(toDepth: depth)
                    model.rollBack(toDepth: depth)
                    history.append("roll back to \(depth)")
                case 14:
                    let table = Self.tables.randomElement(using: &generator) ?? Self.tables[0]
                    guard rowTables.insert(table).inserted else { continue }
                    changes.forgetRows(of: [table])
                    // The levels that have changes at all.
                    for depth in Set(model.entries.filter { !$0.isForgetting }.map(\.depth)) {
                        model.entries.append(
                            Entry(depth: depth, table: table, columns: [], rows: nil, isForgetting: true))
                    }
                    history.append("ask for the rows of \(table.name)")
                default:
                    guard model.depth == 0 else { continue }
                    #expect(
                        changes.takeEvents().map(\.rowID) == model.events.map(\.rowID),
                        "seed \(generator.seed): \(history)")
                    model.events = []
                    history.append("take events")
                }
                #expect(changes.depth == model.depth, "seed \(generator.seed): \(history)")
            }
            var copy = changes
            #expect(
                copy.takeEvents().map(\.rowID) == model.events.map(\.rowID), "seed \(generator.seed): \(history)")
            let region = changes.take().region
            let parts = Set(
                Self.tables.compactMap { table -> String? in
                    let part = region.intersection(DatabaseRegion(table))
                    return part.isEmpty ? nil : part.description
                })
            #expect(parts == model.parts, "seed \(generator.seed): \(history)")
            #expect(changes.depth == 0 && changes.take().region.isEmpty && changes.takeEvents().isEmpty)
        }
    }

    /// More different statements than are listed: their rows count as all rows, and nothing is missed.
    @Test func manyStatements() {
        let table = Self.tables[0]
        var changes = TransactionChanges(depth: 0)
        for number in 0..<40 {
            let accesses = StatementAccesses(
                reads: DatabaseRegion(), changes: DatabaseRegion(table, columns: ["c\(number)"]), kinds: [],
                isDefinition: false)
            let rows = RowChanges(rows: [table: [Int64(number)]], events: [])
            changes.add(accesses, rows: rows)
            changes.addRows(of: accesses, rows, rowTables: [table])
        }
        let region = changes.take().region
        for number in 0..<40 {
            let part = DatabaseRegion(table, columns: ["c\(number)"], rowIDs: [Int64(number)])
            #expect(part.isModified(by: region), "\(number)")
        }
    }

    /// A rollback to a savepoint that isn't open changes nothing.
    @Test func depthsThatDoNotExist() {
        var changes = TransactionChanges(depth: 2)
        changes.add(DatabaseRegion(Self.tables[0]))
        changes.rollBack(toDepth: 3)
        changes.rollBack(toDepth: 0)
        changes.release(toDepth: 5)
        #expect(changes.depth == 2)
        #expect(changes.take().region.description == "a(*)")
        #expect(changes.depth == 0)
    }
}
