// Joins of three tables with conditions and an order in one expression.
import Quarry
import QuarryTables

struct Team: FetchableRecord, TableRecord {
    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
    }

    init(row: Row) throws {}
}

struct Athlete: FetchableRecord, TableRecord {
    enum Columns {
        static let id = Column("id")
        static let score = Column("score")
        static let teamId = Column("teamId")
    }

    init(row: Row) throws {}
}

struct Award: FetchableRecord, TableRecord {
    enum Columns {
        static let id = Column("id")
        static let title = Column("title")
        static let athleteId = Column("athleteId")
    }

    init(row: Row) throws {}
}

func twoTables(_ db: Database) throws -> [(Athlete, Team)] {
    try Athlete.filter { $0.score > 50 }
        .join(Team.self) { athlete, team in athlete.teamId == team.id }
        .filter { athlete, team in athlete.score < 1000 || team.name == "Reds" }
        .order { athlete, team in [team.name, athlete.score.desc] }
        .limit(5).fetchAll(db)
}

func threeTables(_ db: Database) throws -> [(Award, Athlete, Team?)] {
    try Award.all()
        .join(Athlete.self) { award, athlete in award.athleteId == athlete.id }
        .leftJoin(Team.self) { award, athlete, team in athlete.teamId == team.id }
        .filter { award, athlete, team in award.title == "gold" && athlete.score > 10 && team.name != nil }
        .order { award, athlete, team in [team.name, athlete.score.desc, award.id] }
        .fetchAll(db)
}
