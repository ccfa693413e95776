import CSQLite

/// The functions on the bytes of changesets: <https://www.sqlite.org/session/funclist.html>.
///
/// The bytes must be a well-formed changeset or patchset. SQLite before 3.44 may read beyond the end of others
/// (CVE-2023-7104), so `ChangesetReader` reads all bytes that come from outside first.
package enum ChangesetCalls {
    /// Calls a function that allocates bytes, copies these, and frees them.
    static func bytes(
        _ body: (_ count: inout CInt, _ bytes: inout UnsafeMutableRawPointer?) -> CInt
    ) -> (code: CInt, bytes: [UInt8]) {
        var count: CInt = 0
        var bytes: UnsafeMutableRawPointer?
        defer { sqlite3_free(bytes) }
        let code = body(&count, &bytes)
        guard code == SQLITE_OK, count > 0, let bytes else { return (code, []) }
        return (code, Array(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
    }

    /// The largest number of bytes that the functions take.
    package static var maximumCount: Int { Int(CInt.max) }

    /// The corresponding C function is `sqlite3changeset_invert`.
    package static func invert(_ changeset: [UInt8]) -> (code: CInt, bytes: [UInt8]) {
        changeset.withUnsafeBytes { changeset in
            bytes { sqlite3changeset_invert(CInt(changeset.count), changeset.baseAddress, &$0, &$1) }
        }
    }

    /// Applies a changeset or patchset to the schema `main`, in a savepoint. The corresponding C function is
    /// `sqlite3changeset_apply_v2`.
    ///
    /// - returns: SQLite's code, and the bytes for a rebaser.
    package static func apply(
        _ connection: SQLiteConnection, _ changeset: [UInt8], _ application: ChangesetApplication
    ) -> (code: CInt, rebase: [UInt8]) {
        let context = Unmanaged.passUnretained(application).toOpaque()
        let (code, rebase) = changeset.withUnsafeBytes { changeset in
            bytes {
                sqlite3changeset_apply_v2(
                    connection, CInt(changeset.count), UnsafeMutableRawPointer(mutating: changeset.baseAddress),
                    { context, table in
                        guard let context, let table else { return 0 }
                        let application = Unmanaged<ChangesetApplication>.fromOpaque(context).takeUnretainedValue()
                        return application.acceptsTable(String(cString: table)) ? 1 : 0
                    },
                    { context, kind, iterator in
                        guard let context, let iterator else { return SQLITE_CHANGESET_ABORT }
                        let application = Unmanaged<ChangesetApplication>.fromOpaque(context).takeUnretainedValue()
                        return application.resolve(ConflictCalls(kind: kind, iterator: iterator)).code
                    }, context, &$1, &$0, 0)
            }
        }
        withExtendedLifetime(application) {}
        return (code, rebase)
    }
}

/// The closures of an application.
package final class ChangesetApplication {
    /// An answer to a conflict.
    package enum Answer {
        case omit, replace, abort

        fileprivate var code: CInt {
            switch self {
            case .omit: SQLITE_CHANGESET_OMIT
            case .replace: SQLITE_CHANGESET_REPLACE
            case .abort: SQLITE_CHANGESET_ABORT
            }
        }
    }

    fileprivate let acceptsTable: (String) -> Bool
    fileprivate let resolve: (ConflictCalls) -> Answer

    package init(acceptsTable: @escaping (String) -> Bool, resolve: @escaping (ConflictCalls) -> Answer) {
        self.acceptsTable = acceptsTable
        self.resolve = resolve
    }
}

/// A conflict, which SQLite lends for the length of a call: <https://www.sqlite.org/session/changeset_iter.html>.
package struct ConflictCalls {
    package enum Kind { case data, notFound, conflict, constraint, foreignKey }

    package let kind: Kind
    private let iterator: OpaquePointer

    fileprivate init(kind: CInt, iterator: OpaquePointer) {
        self.iterator = iterator
        self.kind =
            switch kind {
            case SQLITE_CHANGESET_DATA: .data
            case SQLITE_CHANGESET_NOTFOUND: .notFound
            case SQLITE_CHANGESET_CONFLICT: .conflict
            case SQLITE_CHANGESET_FOREIGN_KEY: .foreignKey
            default: .constraint
            }
    }

    /// The change; nil for foreign keys. The corresponding C function is `sqlite3changeset_op`.
    package var operation: (table: String, columnCount: Int, code: CInt, isIndirect: Bool)? {
        guard kind != .foreignKey else { return nil }
        var table: UnsafePointer<CChar>?
        var (columnCount, code, isIndirect): (CInt, CInt, CInt) = (0, 0, 0)
        guard sqlite3changeset_op(iterator, &table, &columnCount, &code, &isIndirect) == SQLITE_OK, let table else {
            return nil
        }
        return (String(cString: table), Int(columnCount), code, isIndirect != 0)
    }

    /// For each column its position in the primary key, from 1; 0 for other columns. The corresponding C function is
    /// `sqlite3changeset_pk`.
    package var primaryKeyPositions: [UInt8] {
        var flags: UnsafeMutablePointer<UInt8>?
        var count: CInt = 0
        guard sqlite3changeset_pk(iterator, &flags, &count) == SQLITE_OK, let flags else { return [] }
        return Array(UnsafeBufferPointer(start: flags, count: Int(count)))
    }

    /// The corresponding C function is `sqlite3changeset_old`.
    package func oldValue(_ column: Int) -> DatabaseValue? { value(column, sqlite3changeset_old) }

    /// The corresponding C function is `sqlite3changeset_new`.
    package func newValue(_ column: Int) -> DatabaseValue? { value(column, sqlite3changeset_new) }

    /// A value of the existing row, if there is one. The corresponding C function is `sqlite3changeset_conflict`.
    package func existingValue(_ column: Int) -> DatabaseValue? { value(column, sqlite3changeset_conflict) }

    private func value(
        _ column: Int, _ read: (OpaquePointer?, CInt, UnsafeMutablePointer<OpaquePointer?>?) -> CInt
    ) -> DatabaseValue? {
        var value: OpaquePointer?
        guard read(iterator, CInt(column), &value) == SQLITE_OK, let value else { return nil }
        return ValueCalls.value(value)
    }

    /// The number of violated foreign keys. The corresponding C function is `sqlite3changeset_fk_conflicts`.
    package var foreignKeyViolationCount: Int {
        var count: CInt = 0
        guard kind == .foreignKey, sqlite3changeset_fk_conflicts(iterator, &count) == SQLITE_OK else { return 0 }
        return Int(count)
    }
}
