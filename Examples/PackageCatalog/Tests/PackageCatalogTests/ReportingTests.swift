import Testing

@testable import PackageCatalog

struct ReportingTests {
    private static func progress(_ packages: Int, at elapsed: Duration) -> ImportProgress {
        var progress = ImportProgress()
        progress.packages = packages
        progress.rows = packages * 10
        progress.bytesRead = packages
        progress.byteCount = 2000
        progress.elapsed = elapsed
        return progress
    }

    @Test func progressLine() {
        #expect(
            Self.progress(1500, at: .seconds(3)).line(barWidth: 8)
                == "[######..]  1,500 packages  5,000 rows/s  0:01 left")
        #expect(
            Self.progress(2000, at: .seconds(4)).line(barWidth: 8)
                == "[########]  2,000 packages  5,000 rows/s  0:00 left")
        #expect(Self.progress(0, at: .zero).line(barWidth: 4) == "[....]  0 packages  0.00 rows/s")
    }

    @Test func progressOfAPipe() {
        var progress = Self.progress(1500, at: .seconds(3))
        progress.byteCount = nil
        #expect(progress.line() == "1,500 packages  5,000 rows/s")
    }

    @Test func progressOfPages() {
        let half = PageProgress(completed: 1000, total: 2000)
        #expect(half.line(after: .seconds(3), barWidth: 8) == "[####....]  1,000 of 2,000 pages  0:03 left")
        #expect(PageProgress(completed: 0, total: 0).line(after: .zero, barWidth: 4) == "[....]  0 of 0 pages")
    }

    @Test func terminalsShowOneBar() {
        let capture = Capture()
        let reporter = ProgressReporter(capture.console(terminal: true))
        reporter.begin()
        reporter.show(Self.progress(1000, at: .seconds(1)))
        reporter.show(Self.progress(1010, at: .milliseconds(1099)))
        reporter.report(.malformed(file: "f", MalformedStanza(line: 7, reason: "bad\u{1B}[2J")))
        reporter.show(Self.progress(2000, at: .seconds(2)))
        reporter.report(.stored(Self.progress(2000, at: .seconds(2))))
        reporter.finish()
        reporter.show(Self.progress(2000, at: .seconds(9)))
        let erase = "\r\u{1B}[K"
        let lines = [1000, 2000].map { Self.progress($0, at: .seconds($0 / 1000)).line() }
        #expect(capture.error == erase + lines[0] + erase + "f:7: bad\u{FFFD}[2J\n" + erase + lines[1] + erase)
        #expect(reporter.latest.packages == 2000)
    }

    @Test func elsewhereALineNowAndThen() {
        let capture = Capture()
        let reporter = ProgressReporter(capture.console())
        reporter.begin()
        for second in 1...5 { reporter.show(Self.progress(second * 100, at: .seconds(second))) }
        reporter.finish()
        let lines = [100, 300, 500].map { Self.progress($0, at: .seconds($0 / 100)).line() + "\n" }
        #expect(capture.error == lines.joined())
    }

    @Test func table() {
        let table = TextTable(
            "Sizes", [.left("package"), .right("size"), .left("note")],
            rows: [["a", "1,024 KiB", ""], ["longer-name", "2", "é\u{7}!"]])
        #expect(
            table.description == """
                Sizes
                  package           size  note
                  a            1,024 KiB
                  longer-name          2  é\u{FFFD}!

                """)
        #expect(TextTable("Sizes", [.left("package")], rows: []).description == "Sizes\n  (none)\n")
    }

    @Test func quantities() {
        #expect([0, 999, 1000, 1_234_567, -1000].map(\.grouped) == ["0", "999", "1,000", "1,234,567", "-1,000"])
        #expect([5, 2048, 3 << 20].map(\.asKibibytes) == ["5 KiB", "2.0 MiB", "3.0 GiB"])
        #expect([0, 0.254, 9.5, 1234.6].map(\.asRate) == ["0.00", "0.25", "9.50", "1,235"])
        #expect([1, 1024, 1025, 5 << 20].map(\.asBytes) == ["1 KiB", "1 KiB", "2 KiB", "5.0 MiB"])
        let measured: [Duration] = [.microseconds(250), .microseconds(3100), .milliseconds(2500)]
        #expect(measured.map(\.asMeasured) == ["250 µs", "3.1 ms", "2.50 s"])
        let left: [Duration] = [.milliseconds(100), .seconds(65), .seconds(3723)]
        #expect(left.map(\.asClock) == ["0:01", "1:05", "1:02:03"])
    }
}
