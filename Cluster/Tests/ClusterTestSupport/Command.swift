import Foundation

/// A program of the system that a test runs to its end.
package enum Command {
    /// Runs a program that is found by `PATH` or in the folders of the administrator.
    ///
    /// - returns: its output.
    /// - throws: `NodeProcess.Failure` if it ends with another code than 0.
    @discardableResult
    package static func run(_ arguments: String...) throws -> String {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [searchPath] + arguments
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let reason = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw NodeProcess.Failure(description: "\(arguments.joined(separator: " ")): \(reason)")
        }
        return text
    }

    /// An argument of `env`. The path of users who aren't root often lacks the folders of the administrator.
    package static var searchPath: String {
        "PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"):/usr/sbin:/sbin"
    }
}
