/// The times of one peer in one row, in nanoseconds an operation, one for each round.
package struct Samples: Sendable, Codable {
    package private(set) var nanoseconds: [Double] = []

    package init() {}

    mutating func append(_ value: Double) {
        nanoseconds.append(value)
    }

    package var median: Double { Self.median(nanoseconds) }

    /// The median of the rounds' ratios to other times of the same rounds.
    func medianRatio(to others: [Double]) -> Double { Self.median(zip(nanoseconds, others).map { $0 / $1 }) }

    /// How far the middle half of these ratios goes, in multiples of their median; 0 for less than four.
    func spreadOfRatios(to others: [Double]) -> Double {
        let ratios = zip(nanoseconds, others).map { $0 / $1 }.sorted()
        guard ratios.count > 3 else { return 0 }
        return (ratios[ratios.count * 3 / 4] - ratios[ratios.count / 4]) / Self.median(ratios)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    package var min: Double {
        nanoseconds.min() ?? .nan
    }
}
