import BenchSupport
import Foundation

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

struct Item: FetchableRecord {
    let i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int

    init(row: Row) {
        i0 = row[0]
        i1 = row[1]
        i2 = row[2]
        i3 = row[3]
        i4 = row[4]
        i5 = row[5]
        i6 = row[6]
        i7 = row[7]
        i8 = row[8]
        i9 = row[9]
    }

    var checksum: Int { Checksum.of(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9) }
}

/// An item whose columns are named, by hand.
struct NamedItem: FetchableRecord, PersistableRecord {
    static let databaseTableName = "item"

    let i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int

    init(number: Int) {
        i0 = number
        i1 = number + 1
        i2 = number + 2
        i3 = number + 3
        i4 = number + 4
        i5 = number + 5
        i6 = number + 6
        i7 = number + 7
        i8 = number + 8
        i9 = number + 9
    }

    init(row: Row) {
        i0 = row["i0"]
        i1 = row["i1"]
        i2 = row["i2"]
        i3 = row["i3"]
        i4 = row["i4"]
        i5 = row["i5"]
        i6 = row["i6"]
        i7 = row["i7"]
        i8 = row["i8"]
        i9 = row["i9"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["i0"] = i0
        container["i1"] = i1
        container["i2"] = i2
        container["i3"] = i3
        container["i4"] = i4
        container["i5"] = i5
        container["i6"] = i6
        container["i7"] = i7
        container["i8"] = i8
        container["i9"] = i9
    }

    var checksum: Int { Checksum.of(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9) }
}

struct CodableItem: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "item"

    let i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int

    init(number: Int) {
        i0 = number
        i1 = number + 1
        i2 = number + 2
        i3 = number + 3
        i4 = number + 4
        i5 = number + 5
        i6 = number + 6
        i7 = number + 7
        i8 = number + 8
        i9 = number + 9
    }

    var checksum: Int { Checksum.of(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9) }
}

struct Player: FetchableRecord, PersistableRecord {
    let id: Int64
    let name: String
    let email: String
    var score: Int
    let bonus: Double
    let teamId: Int64?
    let createdAt: Date
    let avatar: Data?

    init(row: Row) {
        id = row["id"]
        name = row["name"]
        email = row["email"]
        score = row["score"]
        bonus = row["bonus"]
        teamId = row["teamId"]
        createdAt = row["createdAt"]
        avatar = row["avatar"]
    }

    init(_ values: BenchValues.Player) {
        id = values.id
        name = values.name
        email = values.email
        score = values.score
        bonus = values.bonus
        teamId = values.teamId
        createdAt = values.createdAt
        avatar = values.avatar
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["email"] = email
        container["score"] = score
        container["bonus"] = bonus
        container["teamId"] = teamId
        container["createdAt"] = createdAt
        container["avatar"] = avatar
    }

    var checksum: Int {
        Checksum.ofPlayer(
            id: id, name: name, email: email, score: score, bonus: bonus, teamId: teamId,
            createdAt: createdAt.timeIntervalSince1970, avatarCount: avatar?.count)
    }
}

struct CodablePlayer: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "player"

    let id: Int64
    let name: String
    let email: String
    var score: Int
    let bonus: Double
    let teamId: Int64?
    let createdAt: Date
    let avatar: Data?

    init(_ values: BenchValues.Player) {
        id = values.id
        name = values.name
        email = values.email
        score = values.score
        bonus = values.bonus
        teamId = values.teamId
        createdAt = values.createdAt
        avatar = values.avatar
    }

    var checksum: Int {
        Checksum.ofPlayer(
            id: id, name: name, email: email, score: score, bonus: bonus, teamId: teamId,
            createdAt: createdAt.timeIntervalSince1970, avatarCount: avatar?.count)
    }
}
