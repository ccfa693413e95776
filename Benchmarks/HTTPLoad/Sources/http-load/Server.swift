import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// A server in a process of its own, which prints `Listening on http://…` when it accepts connections.
struct Server {
    let path: String
    let arguments: [String]

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts the server, runs `work` with its address, and ends the server by SIGTERM.
    func running<Value: Sendable>(_ work: (String) async throws -> Value) async throws -> Value {
        let result = try await run(
            .path(FilePath(path)), arguments: Arguments(arguments), input: .none, output: .sequence,
            error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
        ) { execution in
            var address: String?
            for try await line in execution.standardOutput.strings() {
                guard let start = line.firstRange(of: "http://") else { continue }
                address = line[start.lowerBound...].trimmingSuffix(while: \.isWhitespace)
                break
            }
            guard let address else { throw Failure(description: "\(path) ended before it accepted connections.") }
            let value = try await work(address)
            await execution.teardown(using: [.gracefulShutDown(allowedDurationToNextStep: .seconds(15))])
            return value
        }
        guard result.terminationStatus.isSuccess else {
            throw Failure(description: "\(path) ended with \(result.terminationStatus).")
        }
        return result.closureResult
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isUnwanted: (Character) -> Bool) -> String {
        var rest = self
        while let last = rest.last, isUnwanted(last) { rest.removeLast() }
        return String(rest)
    }
}
