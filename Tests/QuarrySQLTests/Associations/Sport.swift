import QuarryCore
import QuarrySQL

/// Types with associations, whose tables `sport` describes.
enum Sport {
    struct Team: TableRecord {
        static let players = hasMany(Player.self)
        static let awards = hasMany(Award.self, through: players, using: Player.awards)

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let color = Column("color")
        }
    }

    struct Player: TableRecord {
        static let team = belongsTo(Team.self)
        static let awards = hasMany(Award.self)
        static let profile = hasOne(Profile.self)

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let score = Column("score")
            static let teamId = Column("teamId")
        }
    }

    struct Award: TableRecord {
        static let player = belongsTo(Player.self)
        static let team = hasOne(Team.self, through: player, using: Player.team)

        enum Columns {
            static let id = Column("id")
            static let title = Column("title")
        }
    }

    struct Profile: TableRecord {
        static let player = belongsTo(Player.self)
    }

    struct Match: TableRecord {
        static let home = belongsTo(Team.self, key: "home", using: ForeignKey(["homeId"]))
        static let guest = belongsTo(Team.self, key: "guest", using: ForeignKey([Column("guestId")]))
        static let ambiguous = belongsTo(Team.self)
    }

    struct Pair: TableRecord {}

    struct Part: TableRecord {
        static let pair = belongsTo(Pair.self)
    }

    struct Thing: TableRecord {
        static let pair = belongsTo(Pair.self, using: ForeignKey(["x", "y"]))
        static let undeclared = belongsTo(Pair.self)
    }
}

/// A long text in pieces: the compiler takes long over a sum of many.
func text(_ pieces: String...) -> String { pieces.joined() }
