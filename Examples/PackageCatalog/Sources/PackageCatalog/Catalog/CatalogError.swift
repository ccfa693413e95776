import Quarry

/// The errors that end a run, each in one line that names the culprit.
enum CatalogError: Error, Equatable {
    case noInput(looked: [String])
    case unreadableInput(path: String, reason: String)
    case unwritable(path: String, reason: String)
    case notADatabase(path: String)
    case foreignDatabase(path: String)
    case newerCatalog(path: String)
    case diskFull(path: String)
    case database(path: String, code: Int32, message: String)

    /// SQLite's codes in the words of this program; <https://www.sqlite.org/rescode.html> explains each.
    init(_ error: DatabaseError, path: String) {
        let message = error.message ?? "no message"
        switch error.resultCode {
        case .SQLITE_FULL: self = .diskFull(path: path)
        case .SQLITE_NOTADB: self = .notADatabase(path: path)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM:
            // The description has the system's reason too; the path is named already.
            let reason = "\(error)".replacing("SQLite error \(error.resultCode.rawValue): ", with: "")
                .replacing(" - while opening \(path)", with: "")
            self = .unwritable(path: path, reason: reason)
        default: self = .database(path: path, code: error.extendedResultCode.rawValue, message: message)
        }
    }
}

extension CatalogError: CustomStringConvertible {
    var description: String {
        switch self {
        case .noInput(let looked):
            "nothing to read: there is no \(looked.joined(separator: " and no ")); give Debian control files as "
                + "arguments, such as a Packages file of a repository, or - to read standard input"
        case .unreadableInput(let path, let reason): "\(path): can't be read: \(reason)"
        case .unwritable(let path, let reason): "\(path): the catalogue can't be written there: \(reason)"
        case .notADatabase(let path): "\(path): is not an SQLite database; it was left as it is"
        case .foreignDatabase(let path): "\(path): is a database of another program; it was left as it is"
        case .newerCatalog(let path): "\(path): is a catalogue of a newer version of this program; it was left as it is"
        case .diskFull(let path): "\(path): the disk is full, or the file has reached --max-pages"
        case .database(let path, let code, let message): "\(path): \(message) (SQLite's code \(code))"
        }
    }
}
