#if CodeGeneration || AllButTLS
import Foundation
import Testing

/// The command line.
@Suite struct CommandTests {
    private let folder: Folder
    private let database: String

    init() throws {
        folder = try Folder()
        database = try folder.database(
            "players.sqlite",
            "CREATE TABLE team (id INTEGER PRIMARY KEY); CREATE TABLE player (name TEXT, team_id INTEGER);")
    }

    @Test func help() throws {
        let result = try Command.codegen("--help")
        #expect(result.status == 0)
        for text in ["EXAMPLES", "quarry-codegen players.sqlite --output", "--camel-case", "EXIT STATUS", "73"] {
            #expect(result.output.contains(text), "\(text)")
        }
    }

    @Test func theStandardOutput() throws {
        let result = try Command.codegen(database)
        #expect(result.status == 0)
        #expect(result.error == "")
        #expect(
            result.output.hasPrefix(
                "// Written by quarry-codegen from players.sqlite.\n\nimport Foundation\nimport Quarry\n"))
        for text in ["struct Team: ", "struct Player: ", "enum DatabaseSchema {"] {
            #expect(result.output.contains(text))
        }
    }

    @Test func options() throws {
        let result = try Command.codegen(
            database, "--access", "public", "--prefix", "DB", "--camel-case", "--tables", "player",
            "--no-dates", "--rows", "10")
        #expect(result.status == 0, "\(result.error)")
        for text in ["public struct DBPlayer: ", "public var teamId: Int?", "DatabaseMigrator"] {
            #expect(result.output.contains(text))
        }
        #expect(!result.output.contains("struct DBTeam"))
        let excluded = try Command.codegen(database, "--exclude", "player", "--no-singular", "--no-migrator")
        #expect(!excluded.output.contains("DatabaseMigrator"))
        #expect(excluded.output.contains("struct Team: ") && !excluded.output.contains("struct Player"))
    }

    @Test func aFolder() throws {
        let output = folder.file("Records/Of/Players")
        #expect(try Command.codegen(database, "--output", output).status == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: output)
        #expect(files.sorted() == ["DatabaseSchema.swift", "Player.swift", "Team.swift"])

        // Nothing is written if any of the files exists.
        try FileManager.default.removeItem(atPath: output + "/Team.swift")
        let again = try Command.codegen(database, "-o", output)
        #expect(again.status == 73)
        #expect(again.error == "quarry-codegen: \(output)/Player.swift exists: --force replaces it\n")
        #expect(!FileManager.default.fileExists(atPath: output + "/Team.swift"))
        #expect(try Command.codegen(database, "-o", output, "-f").status == 0)
        #expect(FileManager.default.fileExists(atPath: output + "/Team.swift"))
    }

    @Test func aFile() throws {
        let output = folder.file("Records.swift")
        #expect(try Command.codegen(database, "-o", output).status == 0)
        #expect(try String(contentsOfFile: output, encoding: .utf8) == Command.codegen(database).output)
        let again = try Command.codegen(database, "-o", output)
        #expect(again.status == 73)
        #expect(again.error == "quarry-codegen: \(output) exists: --force replaces it\n")
        let nowhere = try Command.codegen(database, "-o", folder.file("none/Records.swift"))
        #expect(nowhere.status == 73)
        #expect(nowhere.error.hasPrefix("quarry-codegen: \(folder.file("none/Records.swift")) can't be written: "))
    }

    @Test func databasesThatCannotBeRead() throws {
        func check(_ path: String, _ status: Int32, _ message: String) throws {
            let result = try Command.codegen(path)
            #expect(result.status == status)
            #expect(result.error == "quarry-codegen: \(message)\n")
            #expect(result.output == "")
        }
        try check(folder.file("none.sqlite"), 66, "\(folder.file("none.sqlite")): there is no such file")
        #expect(!FileManager.default.fileExists(atPath: folder.file("none.sqlite")))
        try check(folder.path, 66, "\(folder.path) is a folder")
        let text = try folder.write(String(repeating: "no database ", count: 1000), to: "text")
        try check(text, 65, "\(text) is no SQLite database, or is encrypted")
        let empty = try folder.write("", to: "empty")
        try check(empty, 65, "\(empty): the database has no table or view")
        let damaged = folder.file("damaged.sqlite")
        var data = try Data(contentsOf: URL(fileURLWithPath: database))
        data.replaceSubrange(100..<108, with: Data(repeating: 0xFF, count: 8))
        try data.write(to: URL(fileURLWithPath: damaged))
        try check(damaged, 65, "\(damaged): database disk image is malformed")
    }

    @Test func optionsThatAreWrong() throws {
        let table = try Command.codegen(database, "--tables", "nope")
        #expect(table.status == 64)
        #expect(table.error == "quarry-codegen: \(database): there is no table or view nope\n")
        let prefix = try Command.codegen(database, "--prefix", "1x")
        #expect(prefix.status == 64)
        #expect(prefix.error.contains("--prefix must be the beginning of a name, not 1x."))
        #expect(try Command.codegen(database, "--rows", "-1").status == 64)
        #expect(try Command.codegen(database, "--access", "secret").status == 64)
        #expect(try Command.codegen().status == 64)
    }

    @Test func theDatabaseIsOnlyRead() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: database))
        #expect(try Command.codegen(database).status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["players.sqlite"])
    }
}
#endif
