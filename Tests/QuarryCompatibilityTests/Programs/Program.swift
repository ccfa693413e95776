import Synchronization

/// A program that is written from GRDB 7's documentation. Its text is the same for both libraries, but for the import.
protocol Program: SendableMetatype {
    static func run() async throws
}

/// All programs. To add one, write its file, name it here, and let GRDB record what it prints.
let programs: [any Program.Type] = [
    LeagueProgram.self, DocumentsProgram.self, MembershipsProgram.self, RecordShapesProgram.self,
    SettingsProgram.self, CallbacksProgram.self, LibraryProgram.self, ShopProgram.self, OrganizationProgram.self,
    RowTreesProgram.self, ReportsProgram.self, CursorsProgram.self, ValuesProgram.self, DatesProgram.self,
    JSONProgram.self, MigrationsProgram.self, SchemaProgram.self, FullTextProgram.self, TransactionsProgram.self,
    FunctionsProgram.self, ChangesProgram.self, ConnectionsProgram.self, ObserversProgram.self,
    ObservationsProgram.self, FormsProgram.self,
]

private let printed = Mutex("")

/// Takes the place of Swift's `print` in all programs. Programs run one after the other.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    let line = items.map { String(describing: $0) }.joined(separator: separator)
    printed.withLock { $0 += line + terminator }
}

/// Runs a program, and returns all that it printed. An error that it throws is the last line.
func output(of program: any Program.Type) async -> String {
    printed.withLock { $0 = "" }
    do {
        try await program.run()
    } catch {
        print("threw", error)
    }
    return printed.withLock { $0 }
}

/// Where two texts differ first, nil where they are the same.
func firstDifference(_ text: String, from expected: String) -> String? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let expectedLines = expected.split(separator: "\n", omittingEmptySubsequences: false)
    for number in 0..<max(lines.count, expectedLines.count) {
        let line = number < lines.count ? lines[number] : "the end"
        let expectedLine = number < expectedLines.count ? expectedLines[number] : "the end"
        if line != expectedLine {
            return "line \(number + 1) is \(line), and not \(expectedLine)"
        }
    }
    return nil
}
