import Foundation

/// One plot: how something grows with something else.
struct Figure: Codable {
    struct Axis: Codable {
        enum Scale: String, Codable {
            case linear
            case log
        }

        let label: String
        let scale: Scale
    }

    struct Point: Codable {
        let x: Double
        let y: Double
    }

    struct Series: Codable {
        let name: String
        var points: [Point]
    }

    /// The name of the plot's file.
    let id: String
    let title: String
    let x: Axis
    let y: Axis
    var series: [Series]

    init(_ id: String, _ title: String, x: Axis, y: Axis, series: [String]) {
        self.id = id
        self.title = title
        self.x = x
        self.y = y
        self.series = series.map { Series(name: $0, points: []) }
    }

    /// Adds a point to the series of that name.
    mutating func add(_ name: String, _ x: Double, _ y: Double) {
        guard let index = series.firstIndex(where: { $0.name == name }) else { return }
        series[index].points.append(Point(x: x, y: y))
    }
}

extension Figure.Axis {
    static func log(_ label: String) -> Figure.Axis { Figure.Axis(label: label, scale: .log) }
    static func linear(_ label: String) -> Figure.Axis { Figure.Axis(label: label, scale: .linear) }
}

/// All plots, as JSON.
struct FigureFile: Codable {
    let figures: [Figure]

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        var json = try encoder.encode(self)
        json.append(UInt8(ascii: "\n"))
        try json.write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
