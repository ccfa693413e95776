import ArgumentParser
import Foundation

@main
struct QuarryScaling: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarry-scaling",
        abstract: "Measures the cost of growing work: tasks, statements, bytes and columns.")

    @Option(help: "Write the figures to this file as JSON.")
    var json: String?

    @Option(help: "Measure less: 0.01 for a smoke test.")
    var scale = 1.0

    @Option(help: .hidden)
    var measure: String?

    func validate() throws {
        guard scale > 0, scale <= 1 else { throw ValidationError("--scale must be above 0 and at most 1") }
        guard measure.map({ Measurement($0) != nil }) ?? true else {
            throw ValidationError("--measure takes KIND:VARIANT:COUNT")
        }
    }

    func run() throws {
        if let measurement = measure.flatMap({ Measurement($0) }) {
            let result = try JSONEncoder().encode(try measurement.run(scale: scale))
            FileHandle.standardOutput.write(result)
            return
        }
        let figures =
            try TaskScaling.figures(scale: scale, report: Self.report)
            + StatementScaling.figures(scale: scale, report: Self.report)
            + ValueScaling.figures(scale: scale, report: Self.report)
            + ColumnScaling.figures(scale: scale, report: Self.report)
        for figure in figures { Self.show(figure) }
        if let json {
            try FigureFile(figures: figures).write(to: json)
        }
    }

    /// A table: a line for each series.
    private static func show(_ figure: Figure) {
        print("\n\(figure.title) (\(figure.y.label))")
        let width = (figure.series.map(\.name.count) + [figure.x.label.count]).max() ?? 0
        func line(_ name: String, _ numbers: [Double]) {
            let cells = numbers.map { String(format: "%12g", ($0 * 1_000).rounded() / 1_000) }
            print(name.padding(toLength: width, withPad: " ", startingAt: 0) + cells.joined())
        }
        line(figure.x.label, figure.series.first?.points.map(\.x) ?? [])
        for series in figure.series { line(series.name, series.points.map(\.y)) }
    }

    private static func report(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
