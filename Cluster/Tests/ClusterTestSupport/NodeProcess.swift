package import ClusterNode
package import Foundation
import QuarryClusterWire

/// A program that a test started. The end of this object kills it.
package final class NodeProcess {
    package let address: NodeAddress
    package let directory: String
    private let process = Process()
    private let output = Pipe()
    private let errors: String

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The program, built next to the tests.
    package static let program = program("quarry-node")

    /// A program that is built next to the tests.
    package static func program(_ name: String) -> URL {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name)
    }

    /// The folder of a node.
    package static func directory(of address: NodeAddress, in folder: String) -> String { "\(folder)/\(address.port)" }

    /// Starts a node, and waits until it is ready.
    ///
    /// - parameter launcher: the beginning of the command: a program that replaces itself with the one that is named
    ///   behind it, so that both are one process.
    package init(
        _ address: NodeAddress, in folder: String, join: [NodeAddress] = [], options: [String] = [],
        launcher: [String] = []
    ) throws {
        self.address = address
        directory = NodeProcess.directory(of: address, in: folder)
        errors = "\(directory).log"
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = launcher + [NodeProcess.program.path, "run", "--directory", directory]
        process.arguments! += ["--address", "\(address)"] + options
        if !join.isEmpty { process.arguments! += ["--join"] + join.map(\.description) }
        process.standardOutput = output
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.run()
        // Blocks until the node has printed its line, or has ended.
        guard String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("ready") else {
            process.waitUntilExit()
            throw Failure(description: "the node at \(address) ended with \(process.terminationStatus): \(log)")
        }
    }

    package var log: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    package var isRunning: Bool { process.isRunning }

    package func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the node by SIGSTOP: it keeps its connections, and answers nothing.
    package func pause() { Foundation.kill(process.processIdentifier, SIGSTOP) }

    /// Lets a paused node go on.
    package func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }

    /// Ends the node by SIGTERM, and returns its exit code.
    package func terminate() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Waits until the node ends by itself, and returns its exit code, or the number of its signal.
    package func waitUntilEnded() throws -> Int32 {
        do {
            try NodeFolder.wait("the node at \(address) ends") { process.isRunning ? nil : () }
        } catch {
            let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            throw Failure(description: "\(error); files: \(files.sorted()); log: \(log)")
        }
        return process.terminationStatus
    }

    /// The resident memory in bytes.
    package var memory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
        return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) * 1024
    }

    deinit { kill() }

    /// Runs the program to its end: its exit code, and the output with the errors.
    package static func run(_ arguments: [String]) throws -> (code: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}

/// A folder that is deleted with this object, and free ports.
package final class NodeFolder {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("quarry-node-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Addresses whose ports were free a moment ago.
    ///
    /// They are below those that Linux gives to clients, and to servers that leave the choice to it, by default: such a
    /// program would take the port of a node that was killed.
    package static func addresses(_ count: Int) throws -> [NodeAddress] {
        var ports: Set<UInt16> = []
        while ports.count < count {
            let port = UInt16.random(in: 10_000..<32_768)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if code == 0 { ports.insert(port) }
        }
        return try ports.map { try NodeAddress("127.0.0.1:\($0)") }
    }

    /// Waits until a cluster has a number of voters.
    package static func waitForVoters(_ count: Int, _ addresses: [NodeAddress], _ connector: any Connector) throws {
        try wait("\(count) voters") {
            let members = try NodeClient.leader(of: addresses, connector, seconds: 1).members()
            return members.filter { $0.role == .voter }.count == count ? () : nil
        }
    }

    /// Tries until a deadline; each look waits for the nodes' answers.
    package static func wait<T>(_ subject: String, seconds: Double = 60, _ body: () throws -> T?) throws -> T {
        let end = NodeClient.now() + seconds
        var last: (any Error)?
        while NodeClient.now() < end {
            do {
                if let value = try body() { return value }
            } catch { last = error }
            poll(nil, 0, 20)
        }
        throw NodeProcess.Failure(description: "not within \(seconds) s: \(subject); \(last.map { "\($0)" } ?? "")")
    }
}
