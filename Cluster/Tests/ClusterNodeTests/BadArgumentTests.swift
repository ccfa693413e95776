import ClusterTestSupport
import Foundation
import Testing

@testable import ClusterNode

/// Mistakes of an administrator: each has a sentence and an exit code.
@Suite(.serialized, .timeLimit(.minutes(2))) struct BadArgumentTests {
    struct Mistake: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        let sentence: String

        var testDescription: String { sentence }
    }

    static let mistakes: [Mistake] = [
        Mistake(
            arguments: ["run", "--directory", "/tmp/x"], sentence: "Missing expected argument '--address <address>'"),
        Mistake(
            arguments: ["run", "--directory", "/tmp/x", "--address", "nowhere"],
            sentence: "The value 'nowhere' is invalid for '--address <address>'"),
        Mistake(
            arguments: ["run", "--directory", "/tmp/x", "--address", "a:70000"],
            sentence: "The value 'a:70000' is invalid for '--address <address>'"),
        Mistake(
            arguments: ["run", "--directory", "/tmp/x", "--address", "a:1", "--latency", "0"],
            sentence: "--latency is 1 to 3600000, not 0."),
        Mistake(
            arguments: ["run", "--directory", "/tmp/x", "--address", "a:1", "--voters", "2"],
            sentence: "--voters is 1, 3, 5 or 7, not 2."),
        Mistake(
            arguments: ["run", "--directory", "/tmp/x", "--address", "a:1", "--key", "k"],
            sentence: "--certificate, --key and --authority are given together."),
        Mistake(
            arguments: ["run", "--directory", "/tmp/x", "--address", "a:1", "--snapshot-trailing", "5"],
            sentence: "--snapshot-threshold and --snapshot-trailing are given together."),
        Mistake(
            arguments: ["assign", "1", "king", "--node", "a:1"], sentence: "The value 'king' is invalid for '<role>'"),
    ]

    @Test(arguments: mistakes) func mistakesAreNamed(_ mistake: Mistake) throws {
        let result = try NodeProcess.run(mistake.arguments)
        #expect(result.code == 64)
        #expect(result.output.contains(mistake.sentence), "\(result.output)")
    }

    @Test func aFolderOrAPortInUse() throws {
        let folder = try NodeFolder()
        let addresses = try NodeFolder.addresses(2)
        let node = try NodeProcess(addresses[0], in: folder.path)
        let sameFolder = try NodeProcess.run(["run", "--directory", node.directory, "--address", "\(addresses[1])"])
        #expect(sameFolder.code == 1)
        #expect(sameFolder.output.contains("The folder \(node.directory) is in use by another node."))
        let samePort = try NodeProcess.run(
            ["run", "--directory", folder.path + "/other", "--address", "\(addresses[0])"])
        #expect(samePort.code == 1)
        #expect(samePort.output.contains("The node can't listen at \(addresses[0])"), "\(samePort.output)")
    }

    @Test func aMemberKeepsItsAddress() throws {
        let folder = try NodeFolder()
        let addresses = try NodeFolder.addresses(2)
        let node = try NodeProcess(addresses[0], in: folder.path)
        #expect(node.terminate() == 0)
        let moved = try NodeProcess.run(["run", "--directory", node.directory, "--address", "\(addresses[1])"])
        #expect(moved.code == 1)
        #expect(moved.output.contains("a member keeps its address"), "\(moved.output)")
    }

    @Test func aFolderThatCantBeCreated() throws {
        let result = try NodeProcess.run(["run", "--directory", "/dev/null/x", "--address", "127.0.0.1:1"])
        #expect(result.code == 1)
        #expect(result.output.contains("The folder /dev/null/x can't be created"), "\(result.output)")
    }

    @Test(arguments: ["", "a", ":1", "a:", "a:0", "a:65536", "a:b", "a:1:2", "a:-1"])
    func badAddresses(_ text: String) {
        #expect(throws: NodeError.self) { try NodeAddress(text) }
    }
}
