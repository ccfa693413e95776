import Foundation

/// Packages that are made up: of the number, the size and the connections of those of Debian 12.
///
/// 66,000 packages have 2,251 maintainers in 58 sections, and name others 366,000 times; a third needs the same
/// package.
package enum CatalogData {
    package struct Package: Sendable {
        package let name, architecture, version: String
        package let section, maintainer, summary: String
        package let installedSize, downloadSize: Int
        package let mentions: [Mention]
    }

    /// One alternative of a dependency.
    package struct Mention: Sendable {
        package let position, alternative: Int
        package let kind, target: String
        package let relation, version: String?
    }

    package static let count = 66_000
    package static let packagesPerStep = 20
    package static let packagesPerWrite = 500
    /// Nanoseconds after which a step is the last one of its transaction.
    package static let longestHold: UInt64 = 100_000_000

    /// The packages, which are made once.
    package static let packages: [Package] = {
        var random = Generator()
        return (0..<count).map { package($0, &random) }
    }()

    private static func package(_ number: Int, _ random: inout Generator) -> Package {
        let summary = (0..<7).map { _ in "w\(random.skewed(8_000, 2))" }.joined(separator: " ")
        let version = "1:\(number % 10).\(number % 37)-\(number % 5)+deb12u1"
        return Package(
            name: name(number), architecture: number % 3 == 0 ? "all" : "amd64", version: version,
            section: "section\(random.skewed(58, 2))",
            maintainer: "Maintainer \(random.skewed(2_251, 2)) <team@lists.example.org>", summary: summary,
            installedSize: random.skewed(400_000, 6) + 8, downloadSize: random.skewed(90_000_000, 6),
            mentions: mentions(&random))
    }

    private static func mentions(_ random: inout Generator) -> [Mention] {
        let entries = random.skewed(20, 1.5)
        var mentions: [Mention] = []
        for position in 0..<entries {
            let kind = position < 2 || position * 6 < entries * 5 ? "Depends" : "Suggests"
            for alternative in 0..<(random.next(12) == 0 ? 2 : 1) {
                let target = position == 0 && random.next(3) == 0 ? 0 : random.skewed(72_000, 4)
                let isVersioned = random.next(2) == 0
                mentions.append(
                    Mention(
                        position: position, alternative: alternative, kind: kind, target: name(target),
                        relation: isVersioned ? ">=" : nil, version: isVersioned ? "2.\(target % 100)-1" : nil))
            }
        }
        return mentions
    }

    private static func name(_ number: Int) -> String { "lib-package\(number)-dev" }

    /// The same numbers in each run: <https://prng.di.unimi.it/splitmix64.c>.
    private struct Generator {
        private var state: UInt64 = 21

        mutating func next(_ limit: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var number = state
            number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
            number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((number ^ (number >> 31)) % UInt64(limit))
        }

        /// A number below the limit, small ones more often.
        mutating func skewed(_ limit: Int, _ exponent: Double) -> Int {
            let part = Double(next(1_000_000)) / 1_000_000
            return Int(pow(part, exponent) * Double(limit))
        }
    }
}
