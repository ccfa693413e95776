// A process of its own, for tests that kill it, let several of it share a file, or take its memory away.

import Foundation
import Quarry

/// Says why it failed, and ends.
func fail(_ reason: String) -> Never {
    writeAll(reason + "\n", to: 2)
    exit(1)
}

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "commit":
        try commitForever(path: arguments[1], kind: DatabaseKind(arguments[2]), work: arguments[3])
    case "commit-in-groups":
        try await commitInGroupsForever(path: arguments[1], first: Int(arguments[2])!)
    case "count":
        try count(path: arguments[1], kind: DatabaseKind(arguments[2]), name: arguments[3], rounds: Int(arguments[4])!)
    case "insert":
        let finds = arguments[3] == "find"
        try insert(path: arguments[1], kind: DatabaseKind(arguments[2]), finds: finds, rows: Array(arguments[4...]))
    case "backup":
        try backUpForever(path: arguments[1], kind: DatabaseKind(arguments[2]), target: arguments[3])
    case "restore":
        try restoreForever(path: arguments[1], kind: DatabaseKind(arguments[2]), sources: Array(arguments[3...]))
    case "replace":
        try replaceForever(path: arguments[1], folder: arguments[2])
    case "use-directory":
        try await useDirectoryForever(folder: arguments[1], first: Int(arguments[2])!)
    case "salvage":
        try salvageForever(path: arguments[1], folder: arguments[2], first: Int(arguments[3])!)
    case "salvage-once":
        try salvageOnce(path: arguments[1], target: arguments[2])
    case "meet-damage":
        try meetDamage(path: arguments[1], kind: DatabaseKind(arguments[2]), backup: arguments[3], name: arguments[4])
    case "deliver":
        try deliverForever(path: arguments[1], kind: DatabaseKind(arguments[2]))
    case "follow":
        try follow(
            path: arguments[1], kind: DatabaseKind(arguments[2]), name: arguments[3],
            storesNumbers: arguments.contains("stored"), rounds: Int(arguments.last!))
    case "watch":
        try watch(path: arguments[1], kind: DatabaseKind(arguments[2]))
    case "migrate":
        try migrate(path: arguments[1], kind: DatabaseKind(arguments[2]), count: Int(arguments[3])!)
    case "out-of-memory":
        try runOutOfMemory(
            folder: arguments[1], encoding: arguments[2], isSticky: arguments[3] == "sticky",
            from: Int64(arguments[4])!, each: Int64(arguments[5])!)
    case "out-of-files":
        try runOutOfFiles(folder: arguments[1])
    case "directory-out-of-files":
        try runDirectoryOutOfFiles(folder: arguments[1])
    case "new-databases-out-of-files":
        try runNewDatabasesOutOfFiles(folder: arguments[1])
    case "lack-permission":
        try lackPermission(folder: arguments[1])
    case "out-of-memory-while-opening":
        try runOutOfMemoryWhileOpening(folder: arguments[1])
    case "replay":
        try replay(path: arguments[1], copy: arguments[2], rounds: arguments.count > 3 ? Int(arguments[3]) : nil)
    case "change-documents":
        try changeDocumentsForever(path: arguments[1], kind: DatabaseKind(arguments[2]))
    case "check-documents":
        try checkDocuments(path: arguments[1], kind: DatabaseKind(arguments[2]))
    case "change-documents-beside-others":
        try changeDocumentsBesideOthers(
            path: arguments[1], kind: DatabaseKind(arguments[2]), name: arguments[3], rounds: Int(arguments[4])!)
    case "sqlite-version":
        let version = try DatabaseQueue().read { db in try String.fetchOne(db, sql: "SELECT sqlite_version()") }
        writeAll("\(version ?? "none")\n", to: 1)
    case "hang":
        while true { _ = pause() }
    default:
        fail("no such command: \(arguments)")
    }
} catch {
    fail("\(CommandLine.arguments.dropFirst()): \(error)")
}
