import Quarry
import QuarryCore

/// The names of the databases in a folder.
///
/// A name is a part of a file's name, and nothing else: it has ASCII letters, digits, and five signs, so it can't lead
/// out of the folder, and no two names are one on a file system that changes case or composes characters.
struct DirectoryNames {
    let folder: String
    let fileExtension: String
    /// The names of the files by their lower case, as last listed, and of those that were made since; nil before.
    private var known: [String: Set<String>]?

    /// The longest name of a file, in bytes, on the usual file systems.
    private static let maximumFileNameLength = 255
    /// The longest ending that SQLite or a copy adds.
    private static let reservedLength = 32

    init(folder: String, fileExtension: String) {
        self.folder = folder
        self.fileExtension = fileExtension
    }

    func path(_ name: String) -> String { "\(folder)/\(name).\(fileExtension)" }

    /// Finds the reason why a text can't be the name of a database.
    func refusal(of name: String) -> DatabaseError? {
        let reason: String? =
            if name.isEmpty {
                "it is empty"
            } else if name.hasPrefix(".") {
                "it begins with a dot"
            } else if let character = name.unicodeScalars.first(where: { !Self.isAllowed($0) }) {
                "it has the character \(String(reflecting: String(character))); "
                    + "a name has ASCII letters, digits, and - _ . @ +"
            } else if name.utf8.count + fileExtension.utf8.count + 1 + Self.reservedLength > Self.maximumFileNameLength
            {
                "it is longer than \(Self.maximumFileNameLength - Self.reservedLength - 1 - fileExtension.utf8.count) "
                    + "characters"
            } else {
                nil
            }
        return reason.map { error(name, $0) }
    }

    private func error(_ name: String, _ reason: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CANTOPEN,
            message: "\(String(reflecting: name)) can't be the name of a database in \(folder): \(reason)")
    }

    private static func isAllowed(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "@", "+": true
        default: false
        }
    }

    /// Checks that no file has a name that differs in case alone.
    ///
    /// - throws: `SQLITE_CANTOPEN` if one has: some file systems take both for one. `SQLITE_CANTOPEN` if the folder
    ///   can't be listed.
    mutating func checkCase(of name: String) throws {
        if known == nil { known = try listByLowerCase() }
        guard knownOther(name) != nil else { return }
        // It may have been removed.
        known = try listByLowerCase()
        if let other = knownOther(name) { throw caseError(name, other) }
    }

    private func knownOther(_ name: String) -> String? { known?[name.lowercased()]?.filter { $0 != name }.min() }

    func caseError(_ name: String, _ other: String) -> DatabaseError {
        error(name, "it differs in case alone from \(String(reflecting: other))")
    }

    /// A database is no longer used, and its file exists.
    mutating func note(_ name: String) { known?[name.lowercased(), default: []].insert(name) }

    /// Whether a database has its file. Folders and links are none.
    ///
    /// - throws: `SQLITE_CANTOPEN` if the system doesn't tell.
    func exists(_ name: String) throws -> Bool {
        guard try FileSystem.size(ofFile: path(name)) != nil, let status = try? FileOperations().status(path(name))
        else { return false }
        return status.kind == .file && !status.isLink
    }

    /// The names of the databases whose files exist.
    func list() throws -> [String] { try listAll().filter { (try? exists($0)) ?? true } }

    private func listByLowerCase() throws -> [String: Set<String>] {
        try listAll().reduce(into: [:]) { $0[$1.lowercased(), default: []].insert($1) }
    }

    /// The names that anything in the folder has.
    private func listAll() throws -> [String] {
        let suffix = ".\(fileExtension)"
        let files: [String]
        do {
            files = try FileOperations().list(folder)
        } catch let failure as FileOperations.Failure {
            if failure.isOfMissingFile { return [] }
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "unable to list \(folder): \(failure.reason)")
        }
        return files.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }
            .filter { refusal(of: $0) == nil }
    }
}
