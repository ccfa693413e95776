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

struct Player: FetchableRecord {
    let id: Int64
    let name: String
    let email: String
    let score: Int
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

    var checksum: Int {
        Checksum.ofPlayer(
            id: id, name: name, email: email, score: score, bonus: bonus, teamId: teamId,
            createdAt: createdAt.timeIntervalSince1970, avatarCount: avatar?.count)
    }
}
