import QuarryTestSupport
import Testing

@testable import QuarryChangesets
@testable import QuarryCore

/// Local changes that are rebased on remote ones: afterwards, both ends have the same rows.
@Suite struct RebasedChangesetTests {
    /// The remote update sets a column that the local one doesn't set: its value would stay there, and not here.
    @Test func omittedUpdatesThatWouldDivergeAreRefused() throws {
        try withPlayers { (local, remote) throws in
            let localChanges = try local.recorded("UPDATE player SET score = 11 WHERE id = 1")
            let remoteChanges = try remote.recorded("UPDATE player SET score = 12, name = 'r' WHERE id = 1")
            let omitted = try local.apply(remoteChanges) { _ in .omit }.rebaseInformation
            let error = expectError(.SQLITE_MISUSE) { try localChanges.rebased(on: omitted) }
            #expect(
                error?.message == """
                    could not rebase a changeset: a remote update of row [1] of player was omitted, which also sets \
                    column 1, and the local one doesn't: the databases would differ. Replace the row, and make the \
                    local change again.
                    """)
            // The cure.
            let replaced = try local.apply(remoteChanges) { _ in .replace }.rebaseInformation
            let again = try local.recorded("UPDATE player SET score = 11 WHERE id = 1")
            #expect(try localChanges.rebased(on: replaced).isEmpty)
            try remote.apply(again)
            let rows = try local.rows()
            #expect(try remote.rows() == rows && rows.hasPrefix("1|r|11"))
        }
    }

    /// Both ends have the same rows, or rebasing is refused.
    @Test func randomChangesOnBothSides() throws {
        var random = SeededGenerator()
        print("RebasedChangesetTests.randomChangesOnBothSides seed: \(random.seed)")
        var counts = (refused: 0, rebased: 0)
        var value = 100
        for _ in 0..<400 {
            try withPlayers { (local, remote) throws in
                func changes() -> String {
                    (0..<Int.random(in: 1...3, using: &random)).map { _ in
                        let id = Int.random(in: 1...4, using: &random)
                        // Names are unique.
                        value += 1
                        return [
                            "UPDATE player SET score = \(value) WHERE id = \(id)",
                            "UPDATE player SET name = 'n\(value)' WHERE id = \(id)",
                            "UPDATE player SET name = 'n\(value)', score = \(value) WHERE id = \(id)",
                            "DELETE FROM player WHERE id = \(id)",
                            "INSERT OR IGNORE INTO player VALUES (\(id), 'n\(value)', \(value))",
                        ].randomElement(using: &random)!
                    }.joined(separator: "; ")
                }
                let resolution = [Changeset.Conflict.Resolution.omit, .replace].randomElement(using: &random)!
                let (localSQL, remoteSQL) = (changes(), changes())
                let localChanges = try local.recorded(localSQL)
                let applied = try local.apply(remote.recorded(remoteSQL)) { conflict in
                    conflict.kind == .notFound ? .omit : resolution
                }
                let rebased: Changeset
                do {
                    rebased = try localChanges.rebased(on: applied.rebaseInformation)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                    #expect(resolution == .omit)
                    counts.refused += 1
                    return
                }
                counts.rebased += 1
                try remote.apply(rebased)
                let rows = try local.rows()
                #expect(try remote.rows() == rows, "\(localSQL) | \(remoteSQL) | \(resolution), seed \(random.seed)")
            }
        }
        #expect(counts.refused > 0 && counts.rebased > 200, "seed \(random.seed)")
    }
}
