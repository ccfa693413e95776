import Foundation
import Quarry
import QuarryIncrementalWrites
import Subprocess
import Synchronization

@testable import PackageCatalog

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// A control file in memory, in one block.
struct TextSource: ControlFileSource {
    let name: String
    let byteCount: Int?
    private let text: [UInt8]

    init(_ text: String, name: String = "status") {
        self.name = name
        self.text = Array(text.utf8)
        byteCount = self.text.count
    }

    func read(_ consume: (ControlFileBlock) async throws -> Void) async throws {
        try await consume(ControlFileBlock(text: text, bytesRead: text.count))
    }
}

/// The output of a run.
final class Capture: Sendable {
    private let texts = Mutex((output: "", error: ""))

    var output: String { texts.withLock(\.output) }
    var error: String { texts.withLock(\.error) }

    /// - parameter onError: called after each text on standard error.
    func console(terminal: Bool = false, onError: @escaping @Sendable () -> Void = {}) -> Console {
        Console(
            output: { text in self.texts.withLock { $0.output += text } },
            error: { text in
                self.texts.withLock { $0.error += text }
                onError()
            },
            errorIsTerminal: terminal)
    }

    /// The console of a terminal where Ctrl-C comes with the first progress that is shown.
    var interrupted: Console { console(terminal: true) { withUnsafeCurrentTask { $0?.cancel() } } }
}

/// A folder that is gone after the test.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/catalog-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String, _ text: String? = nil) throws -> String {
        let file = path + "/" + name
        if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }
        return file
    }

    /// A named pipe.
    func pipe(_ name: String) throws -> String {
        let pipe = path + "/" + name
        guard mkfifo(pipe, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return pipe
    }

    /// A compressed file; nil, with a message, if this machine has no program that compresses it.
    func compressed(_ text: String, by compression: Compression) async throws -> String? {
        let plain = try file("plain-\(compression)", text)
        let compressed = path + "/Packages.\(compression)"
        let target = try FileDescriptor.open(
            compressed, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
        let options = compression == .lzma ? ["--format=lzma", "-c"] : ["-c"]
        do {
            let source = try FileDescriptor.open(plain, .readOnly, options: .closeOnExec)
            defer { try? source.close() }
            let result = try await run(
                .name(compression.programName), arguments: Arguments(options),
                input: .fileDescriptor(source, closeAfterSpawningProcess: false),
                output: .fileDescriptor(target, closeAfterSpawningProcess: true))
            guard result.terminationStatus.isSuccess else { throw CocoaError(.fileWriteUnknown) }
            return compressed
        } catch let error as SubprocessError where error.code == .executableNotFound {
            print("skipped: \(compression.programName) is missing: a .\(compression) file can't be made")
            return nil
        }
    }

    /// The path of a new catalogue with packages `p0`, `p1`…
    func catalogue(_ packages: Int, _ name: String = "c.sqlite") async throws -> String {
        let path = path + "/" + name
        let catalog = try await Catalog.open(path: path)
        try await catalog.importText(stanzas(packages))
        try await catalog.close()
        return path
    }

    /// A database of another program.
    func foreignDatabase() async throws -> String {
        let path = path + "/foreign.sqlite"
        try await DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE theirs (id)") }
        return path
    }

    /// The names of its files.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

/// A file as it is.
func bytes(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

/// The number of packages in a catalogue's file.
func packages(in path: String) throws -> Int? {
    try DatabaseQueue(path: path).read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM packages") }
}

/// Overwrites the first page of a table or index, or of the schema.
func damage(_ path: String, _ name: String) throws {
    let queue = try DatabaseQueue(path: path)
    let (root, size) = try queue.read { db in
        let root = try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [name])
        return (root ?? 1, try db.pageSize())
    }
    try queue.close()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    // The header of the file stays.
    let offset = root == 1 ? 100 : 0
    try file.seek(toOffset: UInt64((root - 1) * size + offset))
    try file.write(contentsOf: Data(repeating: 0xA5, count: size - offset))
    try file.close()
}

/// The executable, whose output goes to files in a folder.
final class CatalogProcess {
    let process = Process()
    let input = Pipe()
    private let ended: AsyncStream<Int32>
    private let outputPath: String
    private let errorPath: String

    /// Held while a process starts: another one that started meanwhile would inherit its pipe, which then had no end.
    private static let starting = Mutex(())

    /// - parameter programs: the only programs that it finds; nil for all of the machine.
    init(_ arguments: [String], in folder: borrowing TemporaryFolder, programs: [String]? = nil) throws {
        if let programs {
            let binaries = folder.path + "/bin"
            try? FileManager.default.createDirectory(atPath: binaries, withIntermediateDirectories: false)
            for program in programs { _ = symlink("/bin/\(program)", "\(binaries)/\(program)") }
            process.environment = ProcessInfo.processInfo.environment.merging(["PATH": binaries]) { $1 }
        }
        (outputPath, errorPath) = (try folder.file("output", ""), try folder.file("errors", ""))
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("catalog")
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = FileHandle(forWritingAtPath: outputPath)
        process.standardError = FileHandle(forWritingAtPath: errorPath)
        let process = process
        ended = AsyncStream { stream in process.terminationHandler = { stream.yield($0.terminationStatus) } }
        try Self.starting.withLock { _ in try process.run() }
    }

    /// Ctrl-C, as a terminal sends it: to the process and to the programs that it has started.
    func interruptGroup() throws {
        let group = getpgid(process.processIdentifier)
        // Its own group, not that of the tests.
        guard group == process.processIdentifier, kill(-group, SIGINT) == 0 else {
            throw CocoaError(.featureUnsupported)
        }
    }

    /// Its standard output until now.
    var output: String { bytes(outputPath).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Its standard error until now.
    var error: String { bytes(errorPath).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Waits until it has written a text to standard error.
    func says(_ text: String) async throws {
        while !error.contains(text) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits for its end, and returns its exit status.
    func status() async -> Int32? { await ended.first { _ in true } }
}

/// Stanzas of packages `p0`, `p1`…, each of which depends on the one before it.
func stanzas(_ count: Int, version: String = "1.0") -> String {
    (0..<count).map { number in
        """
        Package: p\(number)
        Architecture: amd64
        Version: \(version)
        Section: libs
        Installed-Size: \(number)
        \(number == 0 ? "" : "Depends: p\(number - 1)\n")
        """
    }.joined(separator: "\n")
}

extension Catalog {
    static func inMemory() async throws -> Catalog { try await Catalog(DatabaseQueue()) }

    /// A query's rows, their columns joined by `|` as the sqlite3 shell prints them.
    func rows(_ sql: String) async throws -> [String] {
        try await database.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { value in
                    switch value.storage {
                    case .null: ""
                    case .int64(let number): "\(number)"
                    case .double(let number): "\(number)"
                    case .string(let text): text
                    case .blob(let data): "\(data)"
                    }
                }.joined(separator: "|")
            }
        }
    }

    @discardableResult
    func importText(
        _ text: String, batchSize: Int = 500, name: String = "status", pace: IncrementalWritePace = importPace
    ) async throws -> ImportProgress {
        try await Importer(catalog: self, batchSize: batchSize, pace: pace).run([TextSource(text, name: name)]) { _ in }
    }

    /// Takes away what later versions of this program have added.
    func revertToFirstVersion() async throws {
        try await database.write { db in
            try db.execute(
                sql: """
                    DROP TRIGGER totals_names_new; DROP TRIGGER totals_names_old;
                    DROP TRIGGER totals_dependencies_new; DROP TRIGGER totals_dependencies_old;
                    DROP TRIGGER totals_packages_new; DROP TRIGGER totals_packages_old;
                    DROP TRIGGER totals_packages_update; DROP TRIGGER sections_new; DROP TRIGGER sections_old;
                    DROP TRIGGER sections_update; DROP TRIGGER needing_new; DROP TRIGGER needing_old;
                    DROP TRIGGER wishing_new; DROP TRIGGER wishing_old;
                    DROP TABLE totals; DROP INDEX packages_by_size; DROP INDEX dependencies_by_target;
                    DROP INDEX names_in_demand;
                    CREATE INDEX packages_on_section_id ON packages(section_id);
                    CREATE INDEX dependencies_on_target_id ON dependencies(target_id);
                    ALTER TABLE names DROP COLUMN needing; ALTER TABLE names DROP COLUMN wishing;
                    ALTER TABLE sections DROP COLUMN packages; ALTER TABLE sections DROP COLUMN installed_size;
                    DROP TRIGGER search_insert; DROP TRIGGER search_update; DROP TRIGGER search_delete;
                    DROP TABLE package_search; DROP VIEW package_texts; DROP TABLE grdb_migrations;
                    ALTER TABLE packages DROP COLUMN description; ALTER TABLE packages DROP COLUMN homepage;
                    ALTER TABLE imports DROP COLUMN packages; ALTER TABLE imports DROP COLUMN rows;
                    ALTER TABLE imports DROP COLUMN bytes_read; ALTER TABLE imports DROP COLUMN byte_count;
                    PRAGMA user_version = 1
                    """)
        }
    }
}

extension Catalog {
    /// The stored counts that differ from the counted rows.
    func miscounts() async throws -> [String] {
        try await rows(
            """
            SELECT 'totals', * FROM totals WHERE (packages, available, installed_size, names, dependencies) <> (
                SELECT count(*), count(*) FILTER (WHERE state = 'available'), ifnull(sum(installed_size), 0),
                    (SELECT count(*) FROM names), (SELECT count(*) FROM dependencies)
                FROM packages)
            """)
            + rows(
                """
                SELECT * FROM sections WHERE (packages, installed_size) <> (
                    SELECT count(*), ifnull(sum(installed_size), 0) FROM packages WHERE section_id = sections.id)
                """)
            + rows(
                """
                SELECT * FROM names WHERE (needing, wishing) <> (
                    SELECT count(DISTINCT package_id) FILTER (WHERE kind IN ('Depends', 'Pre-Depends')),
                        count(DISTINCT package_id) FILTER (WHERE kind IN ('Recommends', 'Suggests'))
                    FROM dependencies WHERE target_id = names.id)
                """)
    }
}

extension Catalog {
    /// Lets SQLite plan queries as in a file that was never analyzed.
    func dropStatistics() async throws {
        try await database.write { db in
            try db.execute(sql: "DROP TABLE IF EXISTS sqlite_stat1; ANALYZE sqlite_schema")
        }
    }

    /// The query plans of the statements that some work runs.
    func plans(of work: () async throws -> Void) async throws -> [String] {
        let recorder = PlanRecorder()
        let token = database.addTracer(recorder)
        try await work()
        withExtendedLifetime(token) {}
        return recorder.plans
    }
}

/// Keeps the plans of statements, each of which counts as slow.
private final class PlanRecorder: DatabaseTracer {
    var options: DatabaseTracing.Options {
        var options = DatabaseTracing.Options(.slowStatements)
        options.slowStatementThreshold = .zero
        return options
    }

    private let all = Mutex<[String]>([])
    var plans: [String] { all.withLock(\.self) }

    func receive(_ event: DatabaseTraceEvent) {
        guard case .slowStatement(let slow) = event, let plan = slow.plan.map({ "\($0)" }) else { return }
        // The library reads the schema.
        if plan.isEmpty || plan.contains("sqlite_master") { return }
        all.withLock { $0.append(plan) }
    }
}
