import Foundation
import Testing

@testable import CatalogServer

/// The contrast of texts with their grounds, in both schemes: <https://www.w3.org/TR/WCAG22/#contrast-minimum>.
struct PageContrastTests {
    private static let stylesheet = String(decoding: CatalogPage.files[0].bytes, as: UTF8.self)

    /// The colours of a scheme by name. The dark one overwrites the light one, as in the style sheet.
    private static func colors(dark: Bool) throws -> [String: UInt32] {
        let blocks = stylesheet.components(separatedBy: ":root {").dropFirst().map { $0.prefix { $0 != "}" } }
        try #require(blocks.count == 2)
        var colors: [String: UInt32] = [:]
        for block in blocks.prefix(dark ? 2 : 1) {
            for line in block.split(separator: ";") {
                let parts = line.split(separator: ":").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
                guard parts.count == 2, parts[1].hasPrefix("#"), let color = UInt32(parts[1].dropFirst(), radix: 16)
                else {
                    continue
                }
                colors[parts[0]] = color
            }
        }
        return colors
    }

    private static func luminance(_ color: UInt32) -> Double {
        let linear = [16, 8, 0].map { shift -> Double in
            let value = Double(color >> UInt32(shift) & 0xFF) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    private static func contrast(_ one: UInt32, _ other: UInt32) -> Double {
        let (lighter, darker) = (max(luminance(one), luminance(other)), min(luminance(one), luminance(other)))
        return (lighter + 0.05) / (darker + 0.05)
    }

    @Test(arguments: [false, true])
    func textsHaveAContrastOfFourAndAHalf(dark: Bool) throws {
        let colors = try Self.colors(dark: dark)
        let pairs: [(String, [String])] = [
            (
                "--ink",
                [
                    "--ground", "--surface", "--raised", "--soft", "--bad-soft", "--tile-1", "--tile-2", "--tile-3",
                    "--tile-4",
                ]
            ),
            ("--muted", ["--ground", "--surface", "--raised", "--soft"]),
            ("--accent", ["--ground", "--surface", "--raised", "--soft", "--bad-soft"]),
            ("--on-accent", ["--accent"]), ("--on-mark", ["--mark"]), ("--bad", ["--soft"]),
        ]
        for (text, grounds) in pairs {
            for ground in grounds {
                let contrast = try Self.contrast(#require(colors[text]), #require(colors[ground]))
                #expect(contrast >= 4.5, "\(text) on \(ground): \(contrast)")
            }
        }
    }

    /// <https://www.w3.org/TR/WCAG22/#non-text-contrast>
    @Test(arguments: [false, true])
    func controlsAndChartsHaveAContrastOfThree(dark: Bool) throws {
        let colors = try Self.colors(dark: dark)
        let pairs = [
            ("--field", "--ground"), ("--field", "--surface"), ("--accent", "--raised"), ("--good", "--ground"),
            ("--bad", "--ground"),
        ]
        for (part, ground) in pairs {
            let contrast = try Self.contrast(#require(colors[part]), #require(colors[ground]))
            #expect(contrast >= 3, "\(part) on \(ground): \(contrast)")
        }
    }
}
