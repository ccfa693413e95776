/// The names of SQLite's result codes, spelled as SQLite spells them.
///
/// `ResultCode` and `DatabaseError` both conform, so that `catch` clauses can match a code:
///
/// ```swift
/// do {
///     try db.execute(sql: "INSERT INTO player (id) VALUES (1)")
/// } catch DatabaseError.SQLITE_CONSTRAINT_PRIMARYKEY {
///     // This exact constraint
/// } catch DatabaseError.SQLITE_CONSTRAINT {
///     // Any other constraint: a primary code matches all of its extended codes
/// }
/// ```
///
/// See <https://www.sqlite.org/rescode.html>.
public protocol ResultCodeNames {}

extension ResultCode: ResultCodeNames {}
extension DatabaseError: ResultCodeNames {}

extension ResultCodeNames {
    /// No error. Never thrown.
    public static var SQLITE_OK: ResultCode { ResultCode(rawValue: 0) }
    /// An error without a more specific code, such as wrong SQL or a missing table.
    public static var SQLITE_ERROR: ResultCode { ResultCode(rawValue: 1) }
    /// A fault inside SQLite, or inside a virtual table, a VFS or a function.
    public static var SQLITE_INTERNAL: ResultCode { ResultCode(rawValue: 2) }
    /// A new database can't have the requested access permissions.
    public static var SQLITE_PERM: ResultCode { ResultCode(rawValue: 3) }
    /// The operation ended before it was complete, usually because its transaction was rolled back.
    public static var SQLITE_ABORT: ResultCode { ResultCode(rawValue: 4) }
    /// Another connection has a lock that the operation needs.
    public static var SQLITE_BUSY: ResultCode { ResultCode(rawValue: 5) }
    /// The same connection, or one that shares its cache, uses the table that the operation needs.
    public static var SQLITE_LOCKED: ResultCode { ResultCode(rawValue: 6) }
    /// No memory was left.
    public static var SQLITE_NOMEM: ResultCode { ResultCode(rawValue: 7) }
    /// A write without permission to write.
    public static var SQLITE_READONLY: ResultCode { ResultCode(rawValue: 8) }
    /// The statement was interrupted: by a timeout, a cancelled task or `interrupt()`.
    public static var SQLITE_INTERRUPT: ResultCode { ResultCode(rawValue: 9) }
    /// The operating system reported an error of the disk or the file system.
    public static var SQLITE_IOERR: ResultCode { ResultCode(rawValue: 10) }
    /// The file is damaged.
    public static var SQLITE_CORRUPT: ResultCode { ResultCode(rawValue: 11) }
    /// SQLite or a VFS doesn't know the requested operation.
    public static var SQLITE_NOTFOUND: ResultCode { ResultCode(rawValue: 12) }
    /// The disk, or the database's own limit of pages, is full.
    public static var SQLITE_FULL: ResultCode { ResultCode(rawValue: 13) }
    /// A file couldn't be opened: the database, its log or journal, or a temporary file.
    public static var SQLITE_CANTOPEN: ResultCode { ResultCode(rawValue: 14) }
    /// The locks of a log in WAL mode couldn't be taken, because many connections opened the file at the same time.
    public static var SQLITE_PROTOCOL: ResultCode { ResultCode(rawValue: 15) }
    /// Not used by SQLite today.
    public static var SQLITE_EMPTY: ResultCode { ResultCode(rawValue: 16) }
    /// The schema changed while the statement was prepared or run, more often than SQLite tries again.
    public static var SQLITE_SCHEMA: ResultCode { ResultCode(rawValue: 17) }
    /// A text, a blob or a statement is longer than the limit of the connection.
    public static var SQLITE_TOOBIG: ResultCode { ResultCode(rawValue: 18) }
    /// A change would violate a constraint. The extended code names its kind.
    public static var SQLITE_CONSTRAINT: ResultCode { ResultCode(rawValue: 19) }
    /// A value has the wrong type, such as a text for an `INTEGER PRIMARY KEY`.
    public static var SQLITE_MISMATCH: ResultCode { ResultCode(rawValue: 20) }
    /// The library was used in a way that it forbids, such as a closed connection or a reentrant access.
    public static var SQLITE_MISUSE: ResultCode { ResultCode(rawValue: 21) }
    /// The file would grow larger than the file system allows.
    public static var SQLITE_NOLFS: ResultCode { ResultCode(rawValue: 22) }
    /// An authorizer refused the statement.
    public static var SQLITE_AUTH: ResultCode { ResultCode(rawValue: 23) }
    /// Not used by SQLite today.
    public static var SQLITE_FORMAT: ResultCode { ResultCode(rawValue: 24) }
    /// A parameter or column has an index out of range.
    public static var SQLITE_RANGE: ResultCode { ResultCode(rawValue: 25) }
    /// The file isn't a database.
    public static var SQLITE_NOTADB: ResultCode { ResultCode(rawValue: 26) }
    /// Only in SQLite's log: an unusual event that is no error.
    public static var SQLITE_NOTICE: ResultCode { ResultCode(rawValue: 27) }
    /// Only in SQLite's log: a possible mistake.
    public static var SQLITE_WARNING: ResultCode { ResultCode(rawValue: 28) }
    /// A step has found a row. Never thrown.
    public static var SQLITE_ROW: ResultCode { ResultCode(rawValue: 100) }
    /// A statement has ended. Never thrown.
    public static var SQLITE_DONE: ResultCode { ResultCode(rawValue: 101) }
    /// A statement uses a collation that the connection doesn't have.
    public static var SQLITE_ERROR_MISSING_COLLSEQ: ResultCode { ResultCode(rawValue: 257) }
    /// Used inside SQLite: the statement has to be prepared again.
    public static var SQLITE_ERROR_RETRY: ResultCode { ResultCode(rawValue: 513) }
    /// The snapshot isn't in the log any longer, because a checkpoint has overwritten it.
    public static var SQLITE_ERROR_SNAPSHOT: ResultCode { ResultCode(rawValue: 769) }
    /// A read from a file failed.
    public static var SQLITE_IOERR_READ: ResultCode { ResultCode(rawValue: 266) }
    /// A file has fewer bytes than were to be read.
    public static var SQLITE_IOERR_SHORT_READ: ResultCode { ResultCode(rawValue: 522) }
    /// A write to a file failed.
    public static var SQLITE_IOERR_WRITE: ResultCode { ResultCode(rawValue: 778) }
    /// The content of a file couldn't be flushed to the disk.
    public static var SQLITE_IOERR_FSYNC: ResultCode { ResultCode(rawValue: 1034) }
    /// A folder couldn't be flushed to the disk.
    public static var SQLITE_IOERR_DIR_FSYNC: ResultCode { ResultCode(rawValue: 1290) }
    /// A file couldn't be shortened.
    public static var SQLITE_IOERR_TRUNCATE: ResultCode { ResultCode(rawValue: 1546) }
    /// The size or another attribute of a file couldn't be read.
    public static var SQLITE_IOERR_FSTAT: ResultCode { ResultCode(rawValue: 1802) }
    /// A lock couldn't be released.
    public static var SQLITE_IOERR_UNLOCK: ResultCode { ResultCode(rawValue: 2058) }
    /// The lock for reading couldn't be taken.
    public static var SQLITE_IOERR_RDLOCK: ResultCode { ResultCode(rawValue: 2314) }
    /// A file couldn't be deleted.
    public static var SQLITE_IOERR_DELETE: ResultCode { ResultCode(rawValue: 2570) }
    /// Not used by SQLite today.
    public static var SQLITE_IOERR_BLOCKED: ResultCode { ResultCode(rawValue: 2826) }
    /// No memory was left during an operation on a file.
    public static var SQLITE_IOERR_NOMEM: ResultCode { ResultCode(rawValue: 3082) }
    /// The existence or the permissions of a file couldn't be checked.
    public static var SQLITE_IOERR_ACCESS: ResultCode { ResultCode(rawValue: 3338) }
    /// The lock of another writer couldn't be checked.
    public static var SQLITE_IOERR_CHECKRESERVEDLOCK: ResultCode { ResultCode(rawValue: 3594) }
    /// A lock couldn't be taken, for another reason than another connection.
    public static var SQLITE_IOERR_LOCK: ResultCode { ResultCode(rawValue: 3850) }
    /// A file couldn't be closed.
    public static var SQLITE_IOERR_CLOSE: ResultCode { ResultCode(rawValue: 4106) }
    /// Not used by SQLite today.
    public static var SQLITE_IOERR_DIR_CLOSE: ResultCode { ResultCode(rawValue: 4362) }
    /// The index of the log, the file `-shm`, couldn't be opened.
    public static var SQLITE_IOERR_SHMOPEN: ResultCode { ResultCode(rawValue: 4618) }
    /// The index of the log couldn't grow: the disk may be full.
    public static var SQLITE_IOERR_SHMSIZE: ResultCode { ResultCode(rawValue: 4874) }
    /// Not used by SQLite today.
    public static var SQLITE_IOERR_SHMLOCK: ResultCode { ResultCode(rawValue: 5130) }
    /// The index of the log couldn't be mapped into memory.
    public static var SQLITE_IOERR_SHMMAP: ResultCode { ResultCode(rawValue: 5386) }
    /// A position in a file couldn't be reached.
    public static var SQLITE_IOERR_SEEK: ResultCode { ResultCode(rawValue: 5642) }
    /// The file to delete doesn't exist.
    public static var SQLITE_IOERR_DELETE_NOENT: ResultCode { ResultCode(rawValue: 5898) }
    /// A part of the file couldn't be mapped into memory.
    public static var SQLITE_IOERR_MMAP: ResultCode { ResultCode(rawValue: 6154) }
    /// No folder for temporary files was found.
    public static var SQLITE_IOERR_GETTEMPPATH: ResultCode { ResultCode(rawValue: 6410) }
    /// A path couldn't be converted (Cygwin).
    public static var SQLITE_IOERR_CONVPATH: ResultCode { ResultCode(rawValue: 6666) }
    /// The file's vnode became invalid (macOS).
    public static var SQLITE_IOERR_VNODE: ResultCode { ResultCode(rawValue: 6922) }
    /// The file system refused the access.
    public static var SQLITE_IOERR_AUTH: ResultCode { ResultCode(rawValue: 7178) }
    /// An atomic write couldn't begin.
    public static var SQLITE_IOERR_BEGIN_ATOMIC: ResultCode { ResultCode(rawValue: 7434) }
    /// An atomic write couldn't be committed.
    public static var SQLITE_IOERR_COMMIT_ATOMIC: ResultCode { ResultCode(rawValue: 7690) }
    /// An atomic write couldn't be rolled back.
    public static var SQLITE_IOERR_ROLLBACK_ATOMIC: ResultCode { ResultCode(rawValue: 7946) }
    /// The checksum of a page is wrong (checksum VFS).
    public static var SQLITE_IOERR_DATA: ResultCode { ResultCode(rawValue: 8202) }
    /// The file system is damaged.
    public static var SQLITE_IOERR_CORRUPTFS: ResultCode { ResultCode(rawValue: 8458) }
    /// Another connection with the same shared cache uses the table.
    public static var SQLITE_LOCKED_SHAREDCACHE: ResultCode { ResultCode(rawValue: 262) }
    /// A virtual table is in use, and can't be changed.
    public static var SQLITE_LOCKED_VTAB: ResultCode { ResultCode(rawValue: 518) }
    /// Another process is recovering the log after a crash.
    public static var SQLITE_BUSY_RECOVERY: ResultCode { ResultCode(rawValue: 261) }
    /// A transaction that began with a read wants to write, but another connection has written since.
    public static var SQLITE_BUSY_SNAPSHOT: ResultCode { ResultCode(rawValue: 517) }
    /// A lock with a timeout of the operating system wasn't obtained in time.
    public static var SQLITE_BUSY_TIMEOUT: ResultCode { ResultCode(rawValue: 773) }
    /// Not used by SQLite today.
    public static var SQLITE_CANTOPEN_NOTEMPDIR: ResultCode { ResultCode(rawValue: 270) }
    /// The path is a folder.
    public static var SQLITE_CANTOPEN_ISDIR: ResultCode { ResultCode(rawValue: 526) }
    /// The absolute path of the file couldn't be found out.
    public static var SQLITE_CANTOPEN_FULLPATH: ResultCode { ResultCode(rawValue: 782) }
    /// A path couldn't be converted (Cygwin).
    public static var SQLITE_CANTOPEN_CONVPATH: ResultCode { ResultCode(rawValue: 1038) }
    /// Not used by SQLite today.
    public static var SQLITE_CANTOPEN_DIRTYWAL: ResultCode { ResultCode(rawValue: 1294) }
    /// The path is a symbolic link, which the connection doesn't follow.
    public static var SQLITE_CANTOPEN_SYMLINK: ResultCode { ResultCode(rawValue: 1550) }
    /// The content of a virtual table is damaged.
    public static var SQLITE_CORRUPT_VTAB: ResultCode { ResultCode(rawValue: 267) }
    /// The table `sqlite_sequence`, which `AUTOINCREMENT` needs, is damaged.
    public static var SQLITE_CORRUPT_SEQUENCE: ResultCode { ResultCode(rawValue: 523) }
    /// An index lacks an entry that the table has: rebuild it with `REINDEX`.
    public static var SQLITE_CORRUPT_INDEX: ResultCode { ResultCode(rawValue: 779) }
    /// The log has to be recovered, but the connection may not write.
    public static var SQLITE_READONLY_RECOVERY: ResultCode { ResultCode(rawValue: 264) }
    /// The index of the log belongs to no other connection, and this one may not create it.
    public static var SQLITE_READONLY_CANTLOCK: ResultCode { ResultCode(rawValue: 520) }
    /// An unfinished transaction has to be rolled back, but the connection may not write.
    public static var SQLITE_READONLY_ROLLBACK: ResultCode { ResultCode(rawValue: 776) }
    /// The file was moved, deleted or replaced after it was opened.
    public static var SQLITE_READONLY_DBMOVED: ResultCode { ResultCode(rawValue: 1032) }
    /// The index of the log has to be initialized, but the connection may not write.
    public static var SQLITE_READONLY_CANTINIT: ResultCode { ResultCode(rawValue: 1288) }
    /// The process may not create the journal or the log in the database's folder.
    public static var SQLITE_READONLY_DIRECTORY: ResultCode { ResultCode(rawValue: 1544) }
    /// The statement ended because its transaction was rolled back.
    public static var SQLITE_ABORT_ROLLBACK: ResultCode { ResultCode(rawValue: 516) }
    /// A row violates a `CHECK` constraint.
    public static var SQLITE_CONSTRAINT_CHECK: ResultCode { ResultCode(rawValue: 275) }
    /// A commit hook refused the commit.
    public static var SQLITE_CONSTRAINT_COMMITHOOK: ResultCode { ResultCode(rawValue: 531) }
    /// A row refers to a row that doesn't exist, or others still refer to the row.
    public static var SQLITE_CONSTRAINT_FOREIGNKEY: ResultCode { ResultCode(rawValue: 787) }
    /// An SQL function reported the violation of a constraint.
    public static var SQLITE_CONSTRAINT_FUNCTION: ResultCode { ResultCode(rawValue: 1043) }
    /// A column that is `NOT NULL` would become NULL.
    public static var SQLITE_CONSTRAINT_NOTNULL: ResultCode { ResultCode(rawValue: 1299) }
    /// Another row has the same primary key.
    public static var SQLITE_CONSTRAINT_PRIMARYKEY: ResultCode { ResultCode(rawValue: 1555) }
    /// A trigger called `RAISE`.
    public static var SQLITE_CONSTRAINT_TRIGGER: ResultCode { ResultCode(rawValue: 1811) }
    /// Another row has the same values in unique columns.
    public static var SQLITE_CONSTRAINT_UNIQUE: ResultCode { ResultCode(rawValue: 2067) }
    /// A virtual table reported the violation of a constraint.
    public static var SQLITE_CONSTRAINT_VTAB: ResultCode { ResultCode(rawValue: 2323) }
    /// Another row has the same rowid.
    public static var SQLITE_CONSTRAINT_ROWID: ResultCode { ResultCode(rawValue: 2579) }
    /// An update trigger tried to delete the row that is being updated.
    public static var SQLITE_CONSTRAINT_PINNED: ResultCode { ResultCode(rawValue: 2835) }
    /// A value doesn't have the type of its column in a `STRICT` table.
    public static var SQLITE_CONSTRAINT_DATATYPE: ResultCode { ResultCode(rawValue: 3091) }
    /// Only in SQLite's log: a log was recovered after a crash.
    public static var SQLITE_NOTICE_RECOVER_WAL: ResultCode { ResultCode(rawValue: 283) }
    /// Only in SQLite's log: an unfinished transaction was rolled back after a crash.
    public static var SQLITE_NOTICE_RECOVER_ROLLBACK: ResultCode { ResultCode(rawValue: 539) }
    /// Only in SQLite's log: a statement built an index for itself, which the schema lacks.
    public static var SQLITE_WARNING_AUTOINDEX: ResultCode { ResultCode(rawValue: 284) }
    /// The user isn't permitted to do this (removed from SQLite).
    public static var SQLITE_AUTH_USER: ResultCode { ResultCode(rawValue: 279) }
    /// An extension stays loaded when its connection closes. Never thrown.
    public static var SQLITE_OK_LOAD_PERMANENTLY: ResultCode { ResultCode(rawValue: 256) }
    /// Used inside SQLite: a path contains a symbolic link. Never thrown.
    public static var SQLITE_OK_SYMLINK: ResultCode { ResultCode(rawValue: 512) }
}

extension ResultCode {
    /// SQLite's names by code, for descriptions.
    static let names: [CInt: String] = [
        0: "SQLITE_OK",
        1: "SQLITE_ERROR",
        2: "SQLITE_INTERNAL",
        3: "SQLITE_PERM",
        4: "SQLITE_ABORT",
        5: "SQLITE_BUSY",
        6: "SQLITE_LOCKED",
        7: "SQLITE_NOMEM",
        8: "SQLITE_READONLY",
        9: "SQLITE_INTERRUPT",
        10: "SQLITE_IOERR",
        11: "SQLITE_CORRUPT",
        12: "SQLITE_NOTFOUND",
        13: "SQLITE_FULL",
        14: "SQLITE_CANTOPEN",
        15: "SQLITE_PROTOCOL",
        16: "SQLITE_EMPTY",
        17: "SQLITE_SCHEMA",
        18: "SQLITE_TOOBIG",
        19: "SQLITE_CONSTRAINT",
        20: "SQLITE_MISMATCH",
        21: "SQLITE_MISUSE",
        22: "SQLITE_NOLFS",
        23: "SQLITE_AUTH",
        24: "SQLITE_FORMAT",
        25: "SQLITE_RANGE",
        26: "SQLITE_NOTADB",
        27: "SQLITE_NOTICE",
        28: "SQLITE_WARNING",
        100: "SQLITE_ROW",
        101: "SQLITE_DONE",
        257: "SQLITE_ERROR_MISSING_COLLSEQ",
        513: "SQLITE_ERROR_RETRY",
        769: "SQLITE_ERROR_SNAPSHOT",
        266: "SQLITE_IOERR_READ",
        522: "SQLITE_IOERR_SHORT_READ",
        778: "SQLITE_IOERR_WRITE",
        1034: "SQLITE_IOERR_FSYNC",
        1290: "SQLITE_IOERR_DIR_FSYNC",
        1546: "SQLITE_IOERR_TRUNCATE",
        1802: "SQLITE_IOERR_FSTAT",
        2058: "SQLITE_IOERR_UNLOCK",
        2314: "SQLITE_IOERR_RDLOCK",
        2570: "SQLITE_IOERR_DELETE",
        2826: "SQLITE_IOERR_BLOCKED",
        3082: "SQLITE_IOERR_NOMEM",
        3338: "SQLITE_IOERR_ACCESS",
        3594: "SQLITE_IOERR_CHECKRESERVEDLOCK",
        3850: "SQLITE_IOERR_LOCK",
        4106: "SQLITE_IOERR_CLOSE",
        4362: "SQLITE_IOERR_DIR_CLOSE",
        4618: "SQLITE_IOERR_SHMOPEN",
        4874: "SQLITE_IOERR_SHMSIZE",
        5130: "SQLITE_IOERR_SHMLOCK",
        5386: "SQLITE_IOERR_SHMMAP",
        5642: "SQLITE_IOERR_SEEK",
        5898: "SQLITE_IOERR_DELETE_NOENT",
        6154: "SQLITE_IOERR_MMAP",
        6410: "SQLITE_IOERR_GETTEMPPATH",
        6666: "SQLITE_IOERR_CONVPATH",
        6922: "SQLITE_IOERR_VNODE",
        7178: "SQLITE_IOERR_AUTH",
        7434: "SQLITE_IOERR_BEGIN_ATOMIC",
        7690: "SQLITE_IOERR_COMMIT_ATOMIC",
        7946: "SQLITE_IOERR_ROLLBACK_ATOMIC",
        8202: "SQLITE_IOERR_DATA",
        8458: "SQLITE_IOERR_CORRUPTFS",
        262: "SQLITE_LOCKED_SHAREDCACHE",
        518: "SQLITE_LOCKED_VTAB",
        261: "SQLITE_BUSY_RECOVERY",
        517: "SQLITE_BUSY_SNAPSHOT",
        773: "SQLITE_BUSY_TIMEOUT",
        270: "SQLITE_CANTOPEN_NOTEMPDIR",
        526: "SQLITE_CANTOPEN_ISDIR",
        782: "SQLITE_CANTOPEN_FULLPATH",
        1038: "SQLITE_CANTOPEN_CONVPATH",
        1294: "SQLITE_CANTOPEN_DIRTYWAL",
        1550: "SQLITE_CANTOPEN_SYMLINK",
        267: "SQLITE_CORRUPT_VTAB",
        523: "SQLITE_CORRUPT_SEQUENCE",
        779: "SQLITE_CORRUPT_INDEX",
        264: "SQLITE_READONLY_RECOVERY",
        520: "SQLITE_READONLY_CANTLOCK",
        776: "SQLITE_READONLY_ROLLBACK",
        1032: "SQLITE_READONLY_DBMOVED",
        1288: "SQLITE_READONLY_CANTINIT",
        1544: "SQLITE_READONLY_DIRECTORY",
        516: "SQLITE_ABORT_ROLLBACK",
        275: "SQLITE_CONSTRAINT_CHECK",
        531: "SQLITE_CONSTRAINT_COMMITHOOK",
        787: "SQLITE_CONSTRAINT_FOREIGNKEY",
        1043: "SQLITE_CONSTRAINT_FUNCTION",
        1299: "SQLITE_CONSTRAINT_NOTNULL",
        1555: "SQLITE_CONSTRAINT_PRIMARYKEY",
        1811: "SQLITE_CONSTRAINT_TRIGGER",
        2067: "SQLITE_CONSTRAINT_UNIQUE",
        2323: "SQLITE_CONSTRAINT_VTAB",
        2579: "SQLITE_CONSTRAINT_ROWID",
        2835: "SQLITE_CONSTRAINT_PINNED",
        3091: "SQLITE_CONSTRAINT_DATATYPE",
        283: "SQLITE_NOTICE_RECOVER_WAL",
        539: "SQLITE_NOTICE_RECOVER_ROLLBACK",
        284: "SQLITE_WARNING_AUTOINDEX",
        279: "SQLITE_AUTH_USER",
        256: "SQLITE_OK_LOAD_PERMANENTLY",
        512: "SQLITE_OK_SYMLINK",
    ]
}
