import Foundation
import Testing

/// The executable: its arguments, help and exit statuses.
@Suite(.timeLimit(.minutes(2))) struct CommandLineTests {
    private static func run(_ arguments: [String]) async throws -> (status: Int32?, output: String, error: String) {
        let folder = try TemporaryFolder()
        let run = try CatalogProcess(arguments, in: folder)
        return (await run.status(), run.output, run.error)
    }

    @Test func commands() async throws {
        let folder = try TemporaryFolder()
        let (path, copy, new) = (folder.path + "/c.sqlite", folder.path + "/copy.sqlite", folder.path + "/new.sqlite")
        let input = try folder.file("status", stanzas(12))
        #expect(try await Self.run(["stats", "--database", path, "--slow", "10000", input]).status == 0)
        #expect(try await Self.run(["stats", "--database", path, "--open"]).status == 0)
        #expect(try await Self.run(["backup", "--database", path, copy]).status == 0)
        #expect(try await Self.run(["backup", "--database", path, copy]).status == 1)
        #expect(try await Self.run(["backup", "--database", path, "--replace", copy]).status == 0)
        #expect(try await Self.run(["restore", "--database", path, copy]).status == 0)
        #expect(try await Self.run(["check", "--database", path, "--quick"]).status == 0)
        #expect(try await Self.run(["salvage", path, new]).status == 0)
        #expect(try packages(in: new) == 12)
        try damage(copy, "dependencies")
        #expect(try await Self.run(["check", "--database", copy]).status == 1)
        #expect(try await Self.run(["salvage", copy, folder.path + "/newer.sqlite"]).status == 1)
    }

    @Test func wrongArguments() async throws {
        for (arguments, message) in [
            (["backup", "--keep", "0", "x"], "--keep must be at least 1, not 0."),
            (["stats", "--slow=-1", "--open"], "--slow must be at least 0, not -1.0."),
            (["stats", "--open", "file"], "--open imports no files."),
            (["backup"], "Missing expected argument '<target>'"),
            (["restore"], "Missing expected argument '<source>'"),
            (["--cluster", "a:1", "--database", "x"], "--cluster has no --database."),
            (["watch", "--database-name", "x"], "--database-name needs --cluster."),
            (["stats", "--cluster", "a:1", "--max-pages", "9"], "--max-pages is of a file: not with --cluster."),
            (["backup", "--cluster", "a:1", "x"], "On a cluster: quarry-node backup copies the database into a file."),
            (["restore", "--cluster", "a:1", "x"], "On a cluster: import the control files"),
            (["check", "--cluster", "a:1"], "On a cluster: check the file that quarry-node backup makes."),
            (["salvage", "x"], "Missing expected argument '<target>'"),
        ] {
            let result = try await Self.run(arguments)
            #expect(result.error.contains(message), "\(result.error)")
            #expect(result.status == 64)
        }
    }

    @Test(arguments: ["backup", "restore", "check", "salvage", "stats"]) func help(command: String) async throws {
        let result = try await Self.run(["help", command])
        #expect(result.status == 0)
        #expect(result.output.contains("USAGE: catalog \(command) "))
    }
}
