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

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension ResultCodeNames {
    public static var SQLITE_OK: ResultCode { ResultCode(rawValue: 0) }
    public static var SQLITE_ERROR: ResultCode { ResultCode(rawValue: 1) }
    public static var SQLITE_INTERNAL: ResultCode { ResultCode(rawValue: 2) }
    public static var SQLITE_PERM: ResultCode { ResultCode(rawValue: 3) }
    public static var SQLITE_ABORT: ResultCode { ResultCode(rawValue: 4) }
    public static var SQLITE_BUSY: ResultCode { ResultCode(rawValue: 5) }
    public static var SQLITE_LOCKED: ResultCode { ResultCode(rawValue: 6) }
    public static var SQLITE_NOMEM: ResultCode { ResultCode(rawValue: 7) }
    public static var SQLITE_READONLY: ResultCode { ResultCode(rawValue: 8) }
    public static var SQLITE_INTERRUPT: ResultCode { ResultCode(rawValue: 9) }
    public static var SQLITE_IOERR: ResultCode { ResultCode(rawValue: 10) }
    public static var SQLITE_CORRUPT: ResultCode { ResultCode(rawValue: 11) }
    public static var SQLITE_NOTFOUND: ResultCode { ResultCode(rawValue: 12) }
    public static var SQLITE_FULL: ResultCode { ResultCode(rawValue: 13) }
    public static var SQLITE_CANTOPEN: ResultCode { ResultCode(rawValue: 14) }
    public static var SQLITE_PROTOCOL: ResultCode { ResultCode(rawValue: 15) }
    public static var SQLITE_EMPTY: ResultCode { ResultCode(rawValue: 16) }
    public static var SQLITE_SCHEMA: ResultCode { ResultCode(rawValue: 17) }
    public static var SQLITE_TOOBIG: ResultCode { ResultCode(rawValue: 18) }
    public static var SQLITE_CONSTRAINT: ResultCode { ResultCode(rawValue: 19) }
    public static var SQLITE_MISMATCH: ResultCode { ResultCode(rawValue: 20) }
    public static var SQLITE_MISUSE: ResultCode { ResultCode(rawValue: 21) }
    public static var SQLITE_NOLFS: ResultCode { ResultCode(rawValue: 22) }
    public static var SQLITE_AUTH: ResultCode { ResultCode(rawValue: 23) }
    public static var SQLITE_FORMAT: ResultCode { ResultCode(rawValue: 24) }
    public static var SQLITE_RANGE: ResultCode { ResultCode(rawValue: 25) }
    public static var SQLITE_NOTADB: ResultCode { ResultCode(rawValue: 26) }
    public static var SQLITE_NOTICE: ResultCode { ResultCode(rawValue: 27) }
    public static var SQLITE_WARNING: ResultCode { ResultCode(rawValue: 28) }
    public static var SQLITE_ROW: ResultCode { ResultCode(rawValue: 100) }
    public static var SQLITE_DONE: ResultCode { ResultCode(rawValue: 101) }
    public static var SQLITE_ERROR_MISSING_COLLSEQ: ResultCode { ResultCode(rawValue: 257) }
    public static var SQLITE_ERROR_RETRY: ResultCode { ResultCode(rawValue: 513) }
    public static var SQLITE_ERROR_SNAPSHOT: ResultCode { ResultCode(rawValue: 769) }
    public static var SQLITE_IOERR_READ: ResultCode { ResultCode(rawValue: 266) }
    public static var SQLITE_IOERR_SHORT_READ: ResultCode { ResultCode(rawValue: 522) }
    public static var SQLITE_IOERR_WRITE: ResultCode { ResultCode(rawValue: 778) }
    public static var SQLITE_IOERR_FSYNC: ResultCode { ResultCode(rawValue: 1034) }
    public static var SQLITE_IOERR_DIR_FSYNC: ResultCode { ResultCode(rawValue: 1290) }
    public static var SQLITE_IOERR_TRUNCATE: ResultCode { ResultCode(rawValue: 1546) }
    public static var SQLITE_IOERR_FSTAT: ResultCode { ResultCode(rawValue: 1802) }
    public static var SQLITE_IOERR_UNLOCK: ResultCode { ResultCode(rawValue: 2058) }
    public static var SQLITE_IOERR_RDLOCK: ResultCode { ResultCode(rawValue: 2314) }
    public static var SQLITE_IOERR_DELETE: ResultCode { ResultCode(rawValue: 2570) }
    public static var SQLITE_IOERR_BLOCKED: ResultCode { ResultCode(rawValue: 2826) }
    public static var SQLITE_IOERR_NOMEM: ResultCode { ResultCode(rawValue: 3082) }
    public static var SQLITE_IOERR_ACCESS: ResultCode { ResultCode(rawValue: 3338) }
    public static var SQLITE_IOERR_CHECKRESERVEDLOCK: ResultCode { ResultCode(rawValue: 3594) }
    public static var SQLITE_IOERR_LOCK: ResultCode { ResultCode(rawValue: 3850) }
    public static var SQLITE_IOERR_CLOSE: ResultCode { ResultCode(rawValue: 4106) }
    public static var SQLITE_IOERR_DIR_CLOSE: ResultCode { ResultCode(rawValue: 4362) }
    public static var SQLITE_IOERR_SHMOPEN: ResultCode { ResultCode(rawValue: 4618) }
    public static var SQLITE_IOERR_SHMSIZE: ResultCode { ResultCode(rawValue: 4874) }
    public static var SQLITE_IOERR_SHMLOCK: ResultCode { ResultCode(rawValue: 5130) }
    public static var SQLITE_IOERR_SHMMAP: ResultCode { ResultCode(rawValue: 5386) }
    public static var SQLITE_IOERR_SEEK: ResultCode { ResultCode(rawValue: 5642) }
    public static var SQLITE_IOERR_DELETE_NOENT: ResultCode { ResultCode(rawValue: 5898) }
    public static var SQLITE_IOERR_MMAP: ResultCode { ResultCode(rawValue: 6154) }
    public static var SQLITE_IOERR_GETTEMPPATH: ResultCode { ResultCode(rawValue: 6410) }
    public static var SQLITE_IOERR_CONVPATH: ResultCode { ResultCode(rawValue: 6666) }
    public static var SQLITE_IOERR_VNODE: ResultCode { ResultCode(rawValue: 6922) }
    public static var SQLITE_IOERR_AUTH: ResultCode { ResultCode(rawValue: 7178) }
    public static var SQLITE_IOERR_BEGIN_ATOMIC: ResultCode { ResultCode(rawValue: 7434) }
    public static var SQLITE_IOERR_COMMIT_ATOMIC: ResultCode { ResultCode(rawValue: 7690) }
    public static var SQLITE_IOERR_ROLLBACK_ATOMIC: ResultCode { ResultCode(rawValue: 7946) }
    public static var SQLITE_IOERR_DATA: ResultCode { ResultCode(rawValue: 8202) }
    public static var SQLITE_IOERR_CORRUPTFS: ResultCode { ResultCode(rawValue: 8458) }
    public static var SQLITE_LOCKED_SHAREDCACHE: ResultCode { ResultCode(rawValue: 262) }
    public static var SQLITE_LOCKED_VTAB: ResultCode { ResultCode(rawValue: 518) }
    public static var SQLITE_BUSY_RECOVERY: ResultCode { ResultCode(rawValue: 261) }
    public static var SQLITE_BUSY_SNAPSHOT: ResultCode { ResultCode(rawValue: 517) }
    public static var SQLITE_BUSY_TIMEOUT: ResultCode { ResultCode(rawValue: 773) }
    public static var SQLITE_CANTOPEN_NOTEMPDIR: ResultCode { ResultCode(rawValue: 270) }
    public static var SQLITE_CANTOPEN_ISDIR: ResultCode { ResultCode(rawValue: 526) }
    public static var SQLITE_CANTOPEN_FULLPATH: ResultCode { ResultCode(rawValue: 782) }
    public static var SQLITE_CANTOPEN_CONVPATH: ResultCode { ResultCode(rawValue: 1038) }
    public static var SQLITE_CANTOPEN_DIRTYWAL: ResultCode { ResultCode(rawValue: 1294) }
    public static var SQLITE_CANTOPEN_SYMLINK: ResultCode { ResultCode(rawValue: 1550) }
    public static var SQLITE_CORRUPT_VTAB: ResultCode { ResultCode(rawValue: 267) }
    public static var SQLITE_CORRUPT_SEQUENCE: ResultCode { ResultCode(rawValue: 523) }
    public static var SQLITE_CORRUPT_INDEX: ResultCode { ResultCode(rawValue: 779) }
    public static var SQLITE_READONLY_RECOVERY: ResultCode { ResultCode(rawValue: 264) }
    public static var SQLITE_READONLY_CANTLOCK: ResultCode { ResultCode(rawValue: 520) }
    public static var SQLITE_READONLY_ROLLBACK: ResultCode { ResultCode(rawValue: 776) }
    public static var SQLITE_READONLY_DBMOVED: ResultCode { ResultCode(rawValue: 1032) }
    public static var SQLITE_READONLY_CANTINIT: ResultCode { ResultCode(rawValue: 1288) }
    public static var SQLITE_READONLY_DIRECTORY: ResultCode { ResultCode(rawValue: 1544) }
    public static var SQLITE_ABORT_ROLLBACK: ResultCode { ResultCode(rawValue: 516) }
    public static var SQLITE_CONSTRAINT_CHECK: ResultCode { ResultCode(rawValue: 275) }
    public static var SQLITE_CONSTRAINT_COMMITHOOK: ResultCode { ResultCode(rawValue: 531) }
    public static var SQLITE_CONSTRAINT_FOREIGNKEY: ResultCode { ResultCode(rawValue: 787) }
    public static var SQLITE_CONSTRAINT_FUNCTION: ResultCode { ResultCode(rawValue: 1043) }
    public static var SQLITE_CONSTRAINT_NOTNULL: ResultCode { ResultCode(rawValue: 1299) }
    public static var SQLITE_CONSTRAINT_PRIMARYKEY: ResultCode { ResultCode(rawValue: 1555) }
    public static var SQLITE_CONSTRAINT_TRIGGER: ResultCode { ResultCode(rawValue: 1811) }
    public static var SQLITE_CONSTRAINT_UNIQUE: ResultCode { ResultCode(rawValue: 2067) }
    public static var SQLITE_CONSTRAINT_VTAB: ResultCode { ResultCode(rawValue: 2323) }
    public static var SQLITE_CONSTRAINT_ROWID: ResultCode { ResultCode(rawValue: 2579) }
    public static var SQLITE_CONSTRAINT_PINNED: ResultCode { ResultCode(rawValue: 2835) }
    public static var SQLITE_CONSTRAINT_DATATYPE: ResultCode { ResultCode(rawValue: 3091) }
    public static var SQLITE_NOTICE_RECOVER_WAL: ResultCode { ResultCode(rawValue: 283) }
    public static var SQLITE_NOTICE_RECOVER_ROLLBACK: ResultCode { ResultCode(rawValue: 539) }
    public static var SQLITE_WARNING_AUTOINDEX: ResultCode { ResultCode(rawValue: 284) }
    public static var SQLITE_AUTH_USER: ResultCode { ResultCode(rawValue: 279) }
    public static var SQLITE_OK_LOAD_PERMANENTLY: ResultCode { ResultCode(rawValue: 256) }
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
