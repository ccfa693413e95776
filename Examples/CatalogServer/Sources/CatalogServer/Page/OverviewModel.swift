/// The values that `overview.mustache` draws: a map of the sections, and bars.
struct OverviewModel {
    /// A section in the map. Its coordinates have one decimal, which half a pixel needs no more of.
    struct Tile {
        var tileSection, tileHref, tileTitle: String
        /// From 1, pale, to 4.
        var shade: Int
        var x, y, width, height: String
        var labelX, labelY, countY: String
        /// Nil if it would not fit into the tile.
        var tileLabel, tileCount: String?
    }

    struct Bar {
        var barName, barHref, barValue: String
        /// In percent of the longest bar.
        var barShare: String
    }

    struct Chart {
        var chartKey, chartTitle: String
        var chartNote: String?
        var bars: [Bar]
    }

    var mapWidth = Int(Self.map.width)
    var mapHeight = Int(Self.map.height)
    var mapLabel: String
    var tiles: [Tile]
    var charts: [Chart]

    private static let map = Treemap(width: 416, height: 264)
    private static let barCount = 8

    init(_ statistics: CatalogStatistics, address: PageAddress) {
        let sections = statistics.sections.filter { $0.packageCount > 0 }
            .sorted { ($1.packageCount, $0.section ?? "") < ($0.packageCount, $1.section ?? "") }
        tiles = zip(sections, Self.map.rectangles(for: sections.map { Double($0.packageCount) })).map {
            section, place in
            Tile(section, in: place, address: address, largest: sections.first?.packageCount ?? 1)
        }
        let names = sections.prefix(3).map { "\($0.section ?? "no section") \(PageQuantities.count($0.packageCount))" }
        mapLabel = "Map of the packages by section. The largest sections: \(names.joined(separator: ", "))."
        charts = [
            Self.chart(
                "dependents", "Most depended on", note: "packages that need it",
                statistics.mostDependedOn.map { ($0.name, $0.dependentCount) }, address: address,
                text: PageQuantities.count),
            Self.chart(
                "sizes", "Largest packages", note: "installed",
                statistics.largestPackages.map { ($0.name, $0.installedSize) }, address: address,
                text: PageQuantities.bytes),
        ].filter { !$0.bars.isEmpty }
    }

    private static func chart(
        _ key: String, _ title: String, note: String, _ values: [(name: String, value: Int)], address: PageAddress,
        text: (Int) -> String
    ) -> Chart {
        let longest = max(values.map(\.value).max() ?? 1, 1)
        let bars = values.prefix(barCount).map { name, value in
            Bar(
                barName: name, barHref: address.with(package: name).path, barValue: text(value),
                barShare: (Double(max(value, 0)) / Double(longest) * 100).withOneDecimal)
        }
        return Chart(chartKey: key, chartTitle: title, chartNote: note, bars: bars)
    }
}

extension OverviewModel.Tile {
    init(_ section: CatalogStatistics.Section, in place: Treemap.Rectangle, address: PageAddress, largest: Int) {
        let gap = 1.0
        let name = section.section ?? "no section"
        let count = PageQuantities.count(section.packageCount)
        let width = max(place.width - gap, 0.1)
        let height = max(place.height - gap, 0.1)
        // The widths of glyphs aren't known here: an average one of the page's fonts at 11 pixels has 6.4.
        let label = Double(name.count) * 6.4 + 10 <= width && height >= 16 ? name : nil
        let share = Double(section.packageCount) / Double(max(largest, 1))
        self.init(
            tileSection: name,
            tileHref: section.section.map { PageAddress(query: address.query, section: $0).path } ?? "/",
            tileTitle: "\(name): \(PageQuantities.count(section.packageCount, "package", "packages"))",
            shade: share > 0.5 ? 4 : share > 0.2 ? 3 : share > 0.05 ? 2 : 1,
            x: place.x.withOneDecimal, y: place.y.withOneDecimal, width: width.withOneDecimal,
            height: height.withOneDecimal, labelX: (place.x + 5).withOneDecimal,
            labelY: (place.y + 12.5).withOneDecimal, countY: (place.y + 25).withOneDecimal, tileLabel: label,
            tileCount: label != nil && height >= 30 && Double(count.count) * 6 + 10 <= width ? count : nil)
    }
}

extension Double {
    fileprivate var withOneDecimal: String {
        let tenths = Int((self * 10).rounded())
        return tenths.isMultiple(of: 10) ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
    }
}
