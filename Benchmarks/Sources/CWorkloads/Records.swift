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

/// A date of the form `YYYY-MM-DD HH:MM:SS.SSS`, by arithmetic on its bytes.
@inline(__always)
func columnDate(_ statement: OpaquePointer, _ index: Int32) -> Date {
    guard let bytes = sqlite3_column_text(statement, index), sqlite3_column_bytes(statement, index) == 23 else {
        return .distantPast
    }
    func number(_ start: Int, _ length: Int) -> Int {
        var value = 0
        for offset in start..<start + length {
            value = value * 10 + Int(bytes[offset]) - 48
        }
        return value
    }
    // Years begin in March here, so that a leap day is the last of its year.
    let month = number(5, 2)
    let year = month > 2 ? number(0, 4) : number(0, 4) - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + number(8, 2) - 1
    let days = 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    let seconds = days * 86_400 + number(11, 2) * 3_600 + number(14, 2) * 60 + number(17, 2)
    return Date(timeIntervalSince1970: Double(seconds) + Double(number(20, 3)) / 1_000)
}
