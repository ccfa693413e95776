import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

@Suite struct DirectoryNameTests {
    let folder: TemporaryFolder
    let directory: DatabaseDirectory

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        directory = try DatabaseDirectory(path: folder.path)
    }

    @Test(arguments: ["a", "Acme-7", "x_y.z@w+v", "0", "a..b", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "a.sqlite-wal"])
    func names(_ name: String) throws {
        let database = try directory.database(named: name)
        #expect(database.path == folder.file("\(name).sqlite"))
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        #expect(try directory.names() == [name])
        #expect(try directory.contains(name))
    }

    /// No text leads out of the folder, or to another file of a database.
    @Test(arguments: [
        ("", "it is empty"), (".", "it begins with a dot"), ("..", "it begins with a dot"),
        ("../a", "it begins with a dot"), (".hidden", "it begins with a dot"),
        ("a/b", #"it has the character "/"; a name has ASCII letters, digits, and - _ . @ +"#),
        ("/etc/passwd", #"it has the character "/"; a name has ASCII letters, digits, and - _ . @ +"#),
        (#"a\b"#, #"it has the character "\\"; a name has ASCII letters, digits, and - _ . @ +"#),
        ("a\0b", #"it has the character "\0"; a name has ASCII letters, digits, and - _ . @ +"#),
        ("é", #"it has the character "é"; a name has ASCII letters, digits, and - _ . @ +"#),
        ("a b", #"it has the character " "; a name has ASCII letters, digits, and - _ . @ +"#),
        (String(repeating: "a", count: 217), "it is longer than 216 characters"),
    ])
    func refusedNames(_ name: String, _ reason: String) throws {
        let message = "\(String(reflecting: name)) can't be the name of a database in \(folder.path): \(reason)"
        expectError(.SQLITE_CANTOPEN, message) { try directory.database(named: name) }
        expectError(.SQLITE_CANTOPEN, message) { try directory.contains(name) }
        expectError(.SQLITE_CANTOPEN, message) { try directory.remove(name) }
        #expect(try directory.names() == [])
    }

    @Test func longestName() throws {
        let name = String(repeating: "a", count: 216)
        try directory.database(named: name).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        #expect(try directory.names() == [name])
    }

    /// Two names that differ in case alone are one on some file systems: tenants would meet in one file.
    @Test func namesThatDifferInCase() throws {
        let message =
            #""acme" can't be the name of a database in \#(folder.path): it differs in case alone from "Acme""#
        var acme: SharedDatabase? = try directory.database(named: "Acme")
        // While the program has it.
        expectError(.SQLITE_CANTOPEN, message) { try directory.database(named: "acme") }
        try acme?.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        acme = nil
        // While it is open.
        expectError(.SQLITE_CANTOPEN, message) { try directory.database(named: "acme") }
        try directory.close()
        // While its file exists.
        expectError(.SQLITE_CANTOPEN, message) { try directory.database(named: "acme") }
        expectError(.SQLITE_CANTOPEN, message) {
            try DatabaseDirectory(path: folder.path).database(named: "acme")
        }
        try directory.remove("Acme")
        try directory.close()
        try directory.database(named: "acme").write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        #expect(try directory.names() == ["acme"])
    }

    /// Files that another program has made: neither is used, whichever the system lists last.
    @Test func filesThatDifferInCase() throws {
        for name in ["Acme", "acme"] { _ = try DatabaseQueue(path: folder.file("\(name).sqlite")) }
        for name in ["Acme", "acme", "ACME"] {
            expectError(.SQLITE_CANTOPEN) { try DatabaseDirectory(path: folder.path).database(named: name) }
        }
        #expect(try directory.names() == ["Acme", "acme"])
        try FileManager.default.removeItem(atPath: folder.file("Acme.sqlite"))
        try directory.database(named: "acme").write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        expectError(.SQLITE_CANTOPEN) { try directory.database(named: "Acme") }
    }

    /// Folders and links aren't databases.
    @Test func otherKindsOfFiles() throws {
        _ = try DatabaseQueue(path: folder.file("file.sqlite"))
        try FileManager.default.createDirectory(
            atPath: folder.file("folder.sqlite"), withIntermediateDirectories: false)
        for (name, target) in [("link", "file.sqlite"), ("dangling", "nowhere.sqlite")] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("\(name).sqlite"), withDestinationPath: target)
        }
        #expect(try directory.names() == ["file"])
        #expect(try directory.contains("file"))
        for name in ["folder", "link", "dangling", "missing"] { #expect(try !directory.contains(name), "\(name)") }
        for name in ["folder", "link", "dangling"] {
            expectError(.SQLITE_CANTOPEN) { try directory.database(named: name).read { _ in } }
        }
    }

    /// Files with other endings, and those that no name leads to, aren't listed.
    @Test func otherFiles() throws {
        for name in ["a.sqlite", "b.sqlite-wal", "c.db", ".d.sqlite", "é.sqlite", "sqlite", ".sqlite"] {
            try #require(FileManager.default.createFile(atPath: folder.file(name), contents: nil))
        }
        #expect(try directory.names() == ["a"])
        #expect(try DatabaseDirectory(path: folder.path, fileExtension: "db").names() == ["c"])
        #expect(try DatabaseDirectory(path: folder.file("missing")).names() == [])
        expectError(.SQLITE_CANTOPEN, "unable to list \(folder.file("c.db")): Not a directory") {
            try DatabaseDirectory(path: folder.file("c.db")).names()
        }
    }

    @Test func links() throws {
        try DatabaseQueue(path: folder.file("other")).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("a.sqlite"), withDestinationPath: folder.file("other"))
        expectError(.SQLITE_CANTOPEN, "\(folder.file("a.sqlite")) is a link that leads to another file") {
            try directory.database(named: "a")
        }
        // A link to the folder itself is another name of it.
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link"), withDestinationPath: folder.path)
        #expect(try DatabaseDirectory(path: folder.file("link")).path == folder.path)
    }

    @Test func badDirectories() throws {
        expectError(.SQLITE_CANTOPEN) { try DatabaseDirectory(path: "") }
        expectError(.SQLITE_CANTOPEN) { try DatabaseDirectory(path: "file:a") }
        expectError(.SQLITE_CANTOPEN) { try DatabaseDirectory(path: "a\0b") }
        expectError(.SQLITE_CANTOPEN) { try DatabaseDirectory(path: folder.path, fileExtension: "a/b") }
        expectError(.SQLITE_MISUSE, "a directory needs a place for a database, and a thread") {
            try DatabaseDirectory(path: folder.path, maximumOpenCount: 0)
        }
        expectError(.SQLITE_MISUSE) { try DatabaseDirectory(path: folder.path, maximumThreadCount: 0) }
    }
}
