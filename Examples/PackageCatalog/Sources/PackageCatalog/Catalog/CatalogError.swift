internal import Quarry

/// The errors that end a run, each in one line that names the culprit.
public enum CatalogError: Error, Equatable {
    case noInput(looked: [String])
    case unreadableInput(path: String, reason: String)
    /// Nothing on this machine decompresses the input.
    case missingProgram(path: String, program: String)
    case unwritable(path: String, reason: String)
    case missing(path: String)
    case existing(path: String, advice: String)
    case empty(path: String)
    case notADatabase(path: String)
    case damaged(path: String, reason: String)
    case foreignDatabase(path: String)
    case newerCatalog(path: String)
    case noGoodBackup(folder: String, name: String)
    case diskFull(path: String)
    case database(path: String, code: Int32, message: String)
    /// An operation whose errors name the files.
    case failed(reason: String)

    /// SQLite's codes in the words of this program; <https://www.sqlite.org/rescode.html> explains each.
    init(_ error: DatabaseError, path: String) {
        let message = error.message ?? "no message"
        switch error.resultCode {
        case .SQLITE_FULL: self = .diskFull(path: path)
        case .SQLITE_NOTADB: self = .notADatabase(path: path)
        case .SQLITE_CORRUPT: self = .damaged(path: path, reason: message)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM:
            // The path is named already.
            self = .unwritable(path: path, reason: error.reason.replacing(" - while opening \(path)", with: ""))
        default: self = .database(path: path, code: error.extendedResultCode.rawValue, message: message)
        }
    }
}

extension CatalogError {
    /// Runs an operation of SQLite's or Quarry's whose errors name the files that they concern.
    static func naming<Value>(_ operation: () async throws -> Value) async throws -> Value {
        do {
            return try await operation()
        } catch let error as DatabaseError {
            throw CatalogError.failed(reason: error.reason)
        }
    }
}

extension CatalogError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noInput(let looked):
            "nothing to read: there is no \(looked.joined(separator: " and no ")); give Debian control files as "
                + "arguments, such as a Packages file of a repository, or - to read standard input"
        case .unreadableInput(let path, let reason): "\(path): can't be read: \(reason)"
        case .missingProgram(let path, let program):
            "\(path): can't be read: \(program), which decompresses it, is not installed"
        case .unwritable(let path, let reason): "\(path): the catalogue can't be written there: \(reason)"
        case .missing(let path): "\(path): there is no such file"
        case .existing(let path, let advice): "\(path): exists already; \(advice)"
        case .empty(let path): "\(path): is empty: there is no catalogue in it"
        case .notADatabase(let path): "\(path): is not an SQLite database; it was left as it is"
        case .damaged(let path, let reason):
            "\(path): is damaged: \(reason); `catalog salvage` saves what can be read"
        case .foreignDatabase(let path): "\(path): is a database of another program; it was left as it is"
        case .newerCatalog(let path): "\(path): is a catalogue of a newer version of this program; it was left as it is"
        case .noGoodBackup(let folder, let name): "\(folder): has no backup of \(name) that passes its check"
        case .diskFull(let path): "\(path): the disk is full, or the file has reached --max-pages"
        case .database(let path, let code, let message): "\(path): \(message) (SQLite's code \(code))"
        case .failed(let reason): reason
        }
    }
}

extension DatabaseError {
    /// The description without the code: SQLite's message, and the system's reason.
    var reason: String { "\(self)".replacing("SQLite error \(resultCode.rawValue): ", with: "") }
}
