/// The times of one peer in one row, in nanoseconds an operation, one for each round.
package struct Samples: Sendable, Codable {
    package private(set) var nanoseconds: [Double] = []

    package init() {}

    mutating func append(_ value: Double) {
        nanoseconds.append(value)
    }

    package var median: Double {
        let sorted = nanoseconds.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    package var min: Double {
        nanoseconds.min() ?? .nan
    }
}
