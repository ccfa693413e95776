#if CodeGeneration || AllButTLS
public import ArgumentParser
public import QuarryCodeGeneration
import Foundation
import Quarry

@main
struct CodegenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarry-codegen",
        abstract: "Write Swift record types for the tables and views of an SQLite database.",
        discussion: """
            Each table becomes a struct with its columns, and associations from its foreign keys; views become \
            read-only structs. If a declared type is unknown, the values of the rows decide. The schema is generated \
            as a function that creates it: the first step of a program's migrations.

            EXAMPLES
              quarry-codegen players.sqlite
              quarry-codegen players.sqlite --output Sources/App/Records
              quarry-codegen players.sqlite --output Records.swift --force --access public --camel-case
              quarry-codegen players.sqlite --tables player team --prefix DB

            EXIT STATUS
              0   the code is written
              64  an option is wrong
              65  the file is no SQLite database, is encrypted or damaged; or has no table or view
              66  the file is missing, or can't be read
              73  the output exists, or can't be written
            """)

    @Argument(help: ArgumentHelp("The database, which is only read.", valueName: "database"))
    var database: String

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "A folder, or a file that ends with .swift.", discussion: "Default: all goes to the standard output.",
            valueName: "path"))
    var output: String?

    @Flag(name: [.short, .long], help: "Replace files that exist.")
    var force = false

    @Option(help: ArgumentHelp("Access level of the types: internal, package or public.", valueName: "level"))
    var access: GenerationOptions.Access = .internal

    @Option(help: ArgumentHelp("Prefix of the names of types.", valueName: "text"))
    var prefix = ""

    @Flag(inversion: .prefixedNo, help: "Name types by the singular of the tables' names.")
    var singular = true

    @Flag(help: "Name properties in camel case: teamId for team_id.")
    var camelCase = false

    @Flag(inversion: .prefixedNo, help: "Convert DATETIME and TIMESTAMP columns to Date.")
    var dates = true

    @Option(
        parsing: .upToNextOption, help: ArgumentHelp("Write types only for these tables and views.", valueName: "name")
    )
    var tables: [String] = []

    @Option(parsing: .upToNextOption, help: ArgumentHelp("Write no types for these.", valueName: "name"))
    var exclude: [String] = []

    @Option(
        help: ArgumentHelp(
            "Number of rows of each table to check.", discussion: "Default: all. 0: only declared types count.",
            valueName: "n"))
    var rows: Int?

    @Flag(inversion: .prefixedNo, help: "Write a DatabaseMigrator whose first step creates the schema.")
    var migrator = true

    func validate() throws {
        if let rows, rows < 0 { throw ValidationError("--rows must be at least 0, not \(rows).") }
        let isName = prefix.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
        let begins = prefix.unicodeScalars.first.map { $0 == "_" || $0.properties.isXIDStart } ?? true
        if !isName || !begins { throw ValidationError("--prefix must be the beginning of a name, not \(prefix).") }
    }

    func run() throws {
        do {
            let code = try generate()
            try write(code)
        } catch let failure as Failure {
            FileHandle.standardError.write(Data("quarry-codegen: \(failure.message)\n".utf8))
            throw ExitCode(failure.status.rawValue)
        }
    }

    private var options: GenerationOptions {
        var options = GenerationOptions()
        options.access = access
        options.prefix = prefix
        options.singular = singular
        options.camelCase = camelCase
        options.dates = dates
        options.tables = tables.isEmpty ? nil : tables
        options.excluded = exclude
        options.rows = rows
        options.migrator = migrator
        return options
    }

    // MARK: - Reading

    private func generate() throws -> GeneratedCode {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: database, isDirectory: &isFolder) else {
            throw Failure(.noInput, "\(database): there is no such file")
        }
        if isFolder.boolValue { throw Failure(.noInput, "\(database) is a folder") }
        guard FileManager.default.isReadableFile(atPath: database) else {
            throw Failure(.noInput, "\(database) can't be read: permission denied")
        }
        var configuration = Configuration()
        configuration.readonly = true
        do {
            let dbQueue = try DatabaseQueue(path: database, configuration: configuration)
            return try dbQueue.read { db in
                try GeneratedCode(db, source: URL(fileURLWithPath: database).lastPathComponent, options)
            }
        } catch DatabaseError.SQLITE_NOTADB {
            throw Failure(.badInput, "\(database) is no SQLite database, or is encrypted")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
            throw Failure(.noInput, "\(database) can't be opened: \(error.message ?? "\(error)")")
        } catch let error as DatabaseError {
            throw Failure(.badInput, "\(database): \(error.message ?? "\(error)")")
        } catch let error as GenerationError {
            if case .unknownTable = error { throw Failure(.usage, "\(database): \(error)") }
            throw Failure(.badInput, "\(database): \(error)")
        }
    }

    // MARK: - Writing

    private func write(_ code: GeneratedCode) throws {
        guard let output else {
            FileHandle.standardOutput.write(Data(code.joined().utf8))
            return
        }
        do {
            if output.hasSuffix(".swift") {
                try refuse([output])
                try code.joined().write(toFile: output, atomically: true, encoding: .utf8)
            } else {
                let paths = code.files.map { output + "/" + $0.name }
                try refuse(paths)
                try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
                for (file, path) in zip(code.files, paths) {
                    try file.text.write(toFile: path, atomically: true, encoding: .utf8)
                }
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.cannotCreate, "\(output) can't be written: \(error.localizedDescription)")
        }
    }

    /// Writes nothing if any of the files exists.
    private func refuse(_ paths: [String]) throws {
        guard !force, let path = paths.first(where: { FileManager.default.fileExists(atPath: $0) }) else { return }
        throw Failure(.cannotCreate, "\(path) exists: --force replaces it")
    }
}

extension GenerationOptions.Access: ExpressibleByArgument {}

/// The failures that end the command: <https://man.openbsd.org/sysexits>.
private struct Failure: Error {
    enum Status: Int32 {
        case usage = 64
        case badInput = 65
        case noInput = 66
        case cannotCreate = 73
    }

    let status: Status
    let message: String

    init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }
}
#endif
