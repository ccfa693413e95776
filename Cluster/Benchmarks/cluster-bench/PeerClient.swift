import Foundation

/// The program `go-client`, which is given commands by its input. The end of this object ends it.
final class PeerClient: BenchClient {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()

    /// - parameter nodes: the addresses of nodes, each with that of its relay, if it has one: `node=relay`.
    init(_ program: String, _ nodes: [String]) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["app"] + nodes
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    func times(_ operation: Operation, _ count: Int) throws -> [UInt64] { try run("\(operation.rawValue) \(count)") }

    /// Runs a command.
    ///
    /// - returns: the numbers of its answer.
    func run(_ command: String) throws -> [UInt64] {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest = Data(rest[(end + 1)...])
                return line.split(separator: " ").compactMap { UInt64($0) }
            }
            let next = output.fileHandleForReading.availableData
            guard !next.isEmpty else { throw BenchFailure("The peer has ended at the command \(command).") }
            rest += next
        }
    }
}
