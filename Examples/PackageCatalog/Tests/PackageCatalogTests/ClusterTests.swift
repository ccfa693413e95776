import Foundation
import Testing

@testable import PackageCatalog

/// The section "On a cluster" of the README, on real nodes.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Nodes.program != nil, "QUARRY_NODE is the path of quarry-node: `make test-cluster` sets it"))
struct ClusterTests {
    private func run(_ arguments: [String]) async throws -> (status: Int32?, output: String, error: String) {
        let folder = try TemporaryFolder()
        let run = try CatalogProcess(arguments, in: folder)
        return (await run.status(), run.output, run.error)
    }

    /// The commands of the section, which name the nodes at 9000 and the next ports.
    @Test func theSection() async throws {
        let folder = try TemporaryFolder()
        let nodes = try Nodes(in: folder.path)
        let input = try folder.file("status", stanzas(300))
        let commands = try Self.commands()
        #expect(commands.count == 4)
        for command in commands {
            var arguments = command.map { $0.replacing("catalog.sqlite", with: folder.path + "/backup.sqlite") }
            for (index, address) in nodes.addresses.enumerated() {
                arguments = arguments.map { $0.replacing("127.0.0.1:\(9000 + index)", with: address) }
            }
            if arguments.removeFirst() == "quarry-node" {
                let result = try Nodes.run(arguments)
                #expect(result.status == 0, "\(command): \(result.output)")
                #expect(try packages(in: folder.path + "/backup.sqlite") == 300)
                continue
            }
            // The section imports the machine's files, and follows without end.
            if arguments.contains("--follow") { arguments += ["--seconds", "0.5"] }
            if arguments.first == "--cluster" { arguments.append(input) }
            let result = try await run(arguments)
            #expect(result.status == 0, "\(command): \(result.error)")
            if arguments.first != "check" {
                #expect(result.output.contains("300 packages"), "\(command): \(result.output)")
            }
        }
    }

    @Test func theDeathOfTheLeader() async throws {
        let folder = try TemporaryFolder()
        let nodes = try Nodes(in: folder.path)
        let place = nodes.addresses.joined(separator: ",")
        let input = try folder.file("status", stanzas(300))
        #expect(try await run(["--cluster", place, input]).status == 0)
        try nodes.killLeader()
        let result = try await run(["--cluster", place, input])
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output.contains("300 packages: 0 new, 300 updated, 0 removed"), "\(result.output)")
    }

    @Test func otherDatabasesOfTheCluster() async throws {
        let folder = try TemporaryFolder()
        let nodes = try Nodes(in: folder.path)
        let input = try folder.file("status", stanzas(3))
        let place = ["--cluster", nodes.addresses[0], "--database-name", "other"]
        #expect(try await run(place + [input]).output.contains("Imported into other at"))
        let stats = try await run(["stats", "--open", "--cluster", nodes.addresses[0]])
        #expect(stats.output.hasPrefix("0 packages"), "\(stats)")
    }

    /// The words of the section's commands, without comments.
    private static func commands() throws -> [[String]] {
        let readme = URL(filePath: #filePath).appending(path: "../../../README.md").standardized
        let text = try String(contentsOf: readme, encoding: .utf8)
        let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("On a cluster") })
        return section.split(separator: "\n").filter { $0.hasPrefix("catalog ") || $0.hasPrefix("quarry-node ") }
            .map { line in
                let command = line.prefix { $0 != "#" }
                return command.split(separator: " ").map(String.init)
            }
    }
}

/// Three nodes of a cluster, each in a process of its own. The end of this object kills them.
private final class Nodes {
    static let program = ProcessInfo.processInfo.environment["QUARRY_NODE"]

    let addresses: [String]
    private var processes: [Process] = []

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(in folder: String) throws {
        addresses = try Self.freePorts(3).map { "127.0.0.1:\($0)" }
        for (index, address) in addresses.enumerated() {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: try #require(Self.program))
            process.arguments = ["run", "--directory", "\(folder)/node\(index)", "--address", address]
            if index > 0 { process.arguments! += ["--join", addresses[0]] }
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            processes.append(process)
            guard String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("ready") else {
                throw Failure(description: "the node at \(address) has ended")
            }
        }
        _ = try status("three voters") { $0.count { $0.contains("voter") } == 3 }
    }

    deinit {
        for process in processes where process.isRunning { Self.kill(process) }
    }

    func killLeader() throws {
        let leader = try status("a leader") { $0.contains { $0.hasSuffix("leader") } }.first { $0.hasSuffix("leader") }
        let index = try #require(addresses.firstIndex { leader?.contains($0) == true })
        Self.kill(processes[index])
    }

    private static func kill(_ process: Process) {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The lines of `quarry-node status`, as soon as they meet a condition.
    private func status(_ subject: String, _ isMet: ([Substring]) -> Bool) throws -> [Substring] {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let lines = try Self.run(["status", "--node", addresses[0]]).output.split(separator: "\n")
            if isMet(lines) { return lines }
            poll(nil, 0, 50)
        }
        throw Failure(description: "not within 60 seconds: \(subject)")
    }

    static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: try #require(program))
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    /// Ports that were free a moment ago.
    private static func freePorts(_ count: Int) throws -> [UInt16] {
        let sockets = (0..<count).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { sockets.forEach { close($0) } }
        return sockets.map { descriptor in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = bind(descriptor, $0, size)
                    _ = getsockname(descriptor, $0, &size)
                }
            }
            return UInt16(bigEndian: address.sin_port)
        }
    }
}
