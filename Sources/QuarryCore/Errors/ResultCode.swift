/// A result code of SQLite, primary or extended.
///
/// ```swift
/// catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY
/// catch ResultCode.SQLITE_CONSTRAINT_UNIQUE
/// ```
///
/// See <https://www.sqlite.org/rescode.html>.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
    /// The number SQLite uses for this code.
    public let rawValue: CInt

    /// The code with the number `rawValue`.
    @inlinable
    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// The primary code: the low eight bits.
    ///
    /// ```swift
    /// ResultCode.SQLITE_CONSTRAINT_UNIQUE.primaryResultCode // SQLITE_CONSTRAINT
    /// ```
    @inlinable
    public var primaryResultCode: ResultCode {
        ResultCode(rawValue: rawValue & 0xFF)
    }

    var isPrimary: Bool { self == primaryResultCode }

    /// Whether `code` matches a thrown error: a primary code matches all its extended codes, and an extended code
    /// matches itself.
    ///
    /// ```swift
    /// do {
    ///     try db.execute(sql: "INSERT INTO player (email) VALUES ('arthur@example.com')")
    /// } catch ResultCode.SQLITE_CONSTRAINT_UNIQUE {
    ///     print("taken")
    /// }
    /// ```
    public static func ~= (code: ResultCode, error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return code ~= error.extendedResultCode
    }

    /// Whether `pattern` matches `code`: a primary code matches all its extended codes, and an extended code matches
    /// itself.
    ///
    /// ```swift
    /// switch ResultCode.SQLITE_IOERR_READ {
    /// case .SQLITE_IOERR: print("the disk")
    /// default: print("something else")
    /// }
    /// ```
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern.isPrimary ? pattern == code.primaryResultCode : pattern == code
    }
}

extension ResultCode: CustomStringConvertible {
    /// The code's name in SQLite; nil for a number that the library doesn't know.
    ///
    /// ```swift
    /// error.extendedResultCode.name // SQLITE_CONSTRAINT_UNIQUE
    /// ```
    ///
    /// See <https://www.sqlite.org/rescode.html>.
    public var name: String? { Self.names[rawValue] }

    /// The code's number, and its name in SQLite: `19 (SQLITE_CONSTRAINT)`.
    public var description: String {
        if let name { return "\(rawValue) (\(name))" }
        return "\(rawValue) (\(SQLiteLibrary.errorString(rawValue)))"
    }
}
