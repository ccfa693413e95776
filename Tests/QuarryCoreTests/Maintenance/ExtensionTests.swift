import Foundation
import QuarryCore
import QuarryTestSupport
import Testing

/// A C compiler, if the machine has one.
private let compiler: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .flatMap { folder in ["cc", "clang", "gcc"].map { "\(folder)/\($0)" } }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

private let canCompile = compiler != nil && FileManager.default.fileExists(atPath: "/usr/include/sqlite3ext.h")

@Suite struct ExtensionTests {
    private func withAllowingConnection(_ body: (Database) throws -> Void) throws {
        var options = ConnectionOptions()
        options.allowsLoadingExtensions = true
        try TestConnection(options: options).access(body)
    }

    @Test(.enabled(if: canCompile)) func loads() throws {
        let folder = try TemporaryFolder()
        try #"""
        #include <sqlite3ext.h>
        SQLITE_EXTENSION_INIT1
        static void answer(sqlite3_context *context, int count, sqlite3_value **values) {
            sqlite3_result_int(context, 42);
        }
        int sqlite3_answer_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
            SQLITE_EXTENSION_INIT2(api);
            return sqlite3_create_function(db, "answer", 0, SQLITE_UTF8, 0, answer, 0, 0);
        }
        int refuse(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
            SQLITE_EXTENSION_INIT2(api);
            *message = sqlite3_mprintf("not today");
            return SQLITE_ERROR;
        }
        """#.write(toFile: folder.file("answer.c"), atomically: true, encoding: .utf8)
        let library = folder.file("libanswer.so")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(compiler))
        process.arguments = ["-shared", "-fPIC", "-o", library, folder.file("answer.c")]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)

        try withAllowingConnection { db in
            try db.loadExtension(path: library)
            #expect(try Int.fetchOne(db, sql: "SELECT answer()") == 42)
            // SQL can't load any, still.
            expectError(.SQLITE_ERROR, "not authorized") {
                try db.execute(sql: "SELECT load_extension(?)", arguments: [library])
            }
        }
        try withAllowingConnection { db in
            try db.loadExtension(path: library, entryPoint: "sqlite3_answer_init")
            #expect(try Int.fetchOne(db, sql: "SELECT answer()") == 42)
        }
        try withAllowingConnection { db in
            expectError(
                .SQLITE_ERROR, "could not load the extension \(library): error during initialization: not today"
            ) { try db.loadExtension(path: library, entryPoint: "refuse") }
            let missing = expectError(DatabaseError.self) { try db.loadExtension(path: library, entryPoint: "nope") }
            #expect(missing?.message?.contains("nope") == true)
        }
    }

    @Test func refusedUnlessAllowed() throws {
        try withConnection { db in
            expectError(
                .SQLITE_MISUSE,
                "could not load the extension /tmp/extension.so: Configuration.allowsLoadingExtensions is off"
            ) { try db.loadExtension(path: "/tmp/extension.so") }
            expectError(.SQLITE_ERROR, "not authorized") { try db.execute(sql: "SELECT load_extension('x')") }
        }
    }

    @Test func missingFile() throws {
        try withAllowingConnection { db in
            let error = expectError(.SQLITE_ERROR) { try db.loadExtension(path: "/nowhere/extension.so") }
            #expect(error?.message?.hasPrefix("could not load the extension /nowhere/extension.so: ") == true)
            #expect(error?.message?.contains("cannot open shared object file") == true)
            expectError(.SQLITE_MISUSE) { try db.loadExtension(path: "a\u{0}b") }
        }
    }
}
