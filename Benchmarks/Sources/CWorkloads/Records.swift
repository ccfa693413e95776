import BenchSupport
import CSQLiteBench
import Foundation

struct Item {
    let i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int

    @inline(__always)
    init(_ statement: OpaquePointer) {
        i0 = Int(sqlite3_column_int64(statement, 0))
        i1 = Int(sqlite3_column_int64(statement, 1))
        i2 = Int(sqlite3_column_int64(statement, 2))
        i3 = Int(sqlite3_column_int64(statement, 3))
        i4 = Int(sqlite3_column_int64(statement, 4))
        i5 = Int(sqlite3_column_int64(statement, 5))
        i6 = Int(sqlite3_column_int64(statement, 6))
        i7 = Int(sqlite3_column_int64(statement, 7))
        i8 = Int(sqlite3_column_int64(statement, 8))
        i9 = Int(sqlite3_column_int64(statement, 9))
    }

    var checksum: Int { Checksum.of(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9) }
}

struct Player {
    let id: Int64
    let name: String
    let email: String
    let score: Int
    let bonus: Double
    let teamId: Int64?
    let createdAt: Date
    let avatar: Data?

    @inline(__always)
    init(_ statement: OpaquePointer) {
        id = sqlite3_column_int64(statement, 0)
        name = columnText(statement, 1)
        email = columnText(statement, 2)
        score = Int(sqlite3_column_int64(statement, 3))
        bonus = sqlite3_column_double(statement, 4)
        teamId = columnIsNull(statement, 5) ? nil : sqlite3_column_int64(statement, 5)
        createdAt = columnDate(statement, 6)
        avatar = columnIsNull(statement, 7) ? nil : columnData(statement, 7)
    }

    var checksum: Int {
        Checksum.ofPlayer(
            id: id, name: name, email: email, score: score, bonus: bonus, teamId: teamId,
            createdAt: createdAt.timeIntervalSince1970, avatarCount: avatar?.count)
    }
}

@inline(__always)
func columnIsNull(_ statement: OpaquePointer, _ index: Int32) -> Bool {
    sqlite3_column_type(statement, index) == SQLITE_NULL
}

@inline(__always)
func columnText(_ statement: OpaquePointer, _ index: Int32) -> String {
    guard let bytes = sqlite3_column_text(statement, index) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, index))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
}

@inline(__always)
func columnData(_ statement: OpaquePointer, _ index: Int32) -> Data {
    guard let bytes = sqlite3_column_blob(statement, index) else { return Data() }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, index)))
}
