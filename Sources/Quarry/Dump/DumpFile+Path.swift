import QuarryAccess
import QuarryCore
public import QuarryRecords

extension DumpFile {
    /// Creates a file, or truncates an existing one.
    ///
    /// ```swift
    /// let file = try DumpFile(path: "/tmp/players.csv")
    /// ```
    ///
    /// - throws: `SQLITE_CANTOPEN` if the file can't be created or written, and if it is that of a database that the
    ///   process has open, its log or its journal.
    public convenience init(path: String) throws {
        if let database = FilePlace(path).openDatabase {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "unable to create \(path): it is a file of \(database), which this process has open")
        }
        try self.init(creating: path)
    }
}
