import Foundation
import Quarry
import QuarryCodeGeneration

/// Code for a database that SQL makes.
func code(
    for sql: String, _ change: (inout GenerationOptions) -> Void = { _ in }
) throws -> GeneratedCode {
    var options = GenerationOptions()
    change(&options)
    return try DatabaseQueue().write { db in
        try db.execute(sql: sql)
        return try GeneratedCode(db, source: "test.sqlite", options)
    }
}

extension GeneratedCode {
    /// The text of a file without its head.
    func body(_ file: String) -> String? {
        files.first { $0.name == file }?.text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(5)
            .joined(separator: "\n")
    }
}

/// A folder that is removed when it goes.
final class Folder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("quarry-codegen-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file.
    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }

    /// Makes a database.
    func database(_ name: String, _ sql: String) throws -> String {
        let dbQueue = try DatabaseQueue(path: file(name))
        try dbQueue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try dbQueue.close()
        return file(name)
    }
}

/// Programs that tests start.
enum Command {
    struct Result {
        var status: Int32
        var output: String
        var error: String
    }

    /// Where the products of this package are.
    static var products: URL {
        get throws {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(fileURLWithPath: tests).deletingLastPathComponent()
        }
    }

    /// The folder of the repository.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Runs a program to its end.
    static func run(_ executable: URL, _ arguments: [String], input: String = "") throws -> Result {
        let folder = try Folder()
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        // Files, not pipes: nobody has to empty them.
        let output = try folder.write("", to: "output")
        let error = try folder.write("", to: "error")
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: error)
        process.standardInput = FileHandle(forReadingAtPath: try folder.write(input, to: "input"))
        try process.run()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }

    static func codegen(_ arguments: String...) throws -> Result {
        try run(products.appendingPathComponent("quarry-codegen"), arguments)
    }

    /// The program of that name in PATH.
    static func tool(_ name: String) throws -> URL {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let found = folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name]) }
        return URL(fileURLWithPath: found)
    }

    /// Compiles Swift against the library as it was built for these tests.
    static func swiftc(_ arguments: [String]) throws -> Result {
        let products = try products
        return try run(
            tool("swiftc"),
            [
                "-swift-version", "6", "-package-name", "generated", "-I",
                products.appendingPathComponent("Modules").path, "-Xcc",
                "-fmodule-map-file=" + root.appendingPathComponent("Sources/CSQLite/module.modulemap").path,
            ] + arguments)
    }

    /// The object files of the library.
    static func libraryObjects() throws -> [String] {
        let products = try products
        return try ["QuarryCore", "QuarrySQL", "QuarryAccess", "QuarryRecords", "Quarry"].map { "\($0).build" }.flatMap
        { folder in
            try FileManager.default.subpathsOfDirectory(atPath: products.appendingPathComponent(folder).path)
                .filter { $0.hasSuffix(".o") }.map { products.path + "/\(folder)/\($0)" }
        }
    }
}
