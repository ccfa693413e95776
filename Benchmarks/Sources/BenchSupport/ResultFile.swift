import Foundation

/// The results as JSON, for comparing runs.
package struct ResultFile: Encodable {
    struct Row: Encodable {
        struct Side: Encodable {
            let medianNanoseconds: Double
            let minNanoseconds: Double
            let nanoseconds: [Double]
            let mallocsPerOperation: Double?
            let bytesKeptPerOperation: Double?
        }

        let id: String
        let title: String
        let budget: String
        let bytesBudget: Double?
        let budgetUse: Double?
        let verdict: String
        let quarryToC: Double?
        let grdbToC: Double?
        let sides: [String: Side]
    }

    let rows: [Row]

    package init(_ results: [RowResult]) {
        rows = results.map { result in
            let sides = result.samples.map { peer, samples in
                let side = Row.Side(
                    medianNanoseconds: samples.median, minNanoseconds: samples.min,
                    nanoseconds: samples.nanoseconds, mallocsPerOperation: result.mallocs[peer],
                    bytesKeptPerOperation: result.bytesKept[peer])
                return (peer.rawValue, side)
            }
            return Row(
                id: result.row.id, title: result.row.title, budget: result.row.budget.description,
                bytesBudget: result.row.bytesBudget,
                budgetUse: result.budgetUse, verdict: result.verdict.rawValue,
                quarryToC: result.ratio(.quarry), grdbToC: result.ratio(.grdb),
                sides: Dictionary(uniqueKeysWithValues: sides))
        }
    }

    /// - throws: what the file system says when the file can't be written.
    package func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
