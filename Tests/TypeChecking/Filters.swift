// Scripts/check-type-checking measures how long the compiler takes for each expression of this file.
import Quarry

struct Player: TableRecord {
    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let score = Column("score")
        static let bonus = Column("bonus")
        static let teamId = Column("teamId")
        static let isCaptain = Column("isCaptain")
    }
}

/// Twelve comparisons of columns with literals.
func twelveTerms() -> QueryInterfaceRequest<Player> {
    Player.filter {
        $0.score > 10 && $0.score < 1000 && $0.name != "Arthur" && $0.name != nil
            || $0.bonus >= 1 && $0.bonus <= 100 && $0.teamId == 1 && $0.id != 7
            || $0.isCaptain == true && $0.score == 0.5 && $0.teamId != nil && $0.name == "Barbara"
    }
}

/// The same, of columns that are named where they are used.
func twelveTermsOfColumns() -> QueryInterfaceRequest<Player> {
    Player.filter(
        Column("score") > 10 && Column("score") < 1000 && Column("name") != "Arthur" && Column("name") != nil
            || Column("bonus") >= 1 && Column("bonus") <= 100 && Column("teamId") == 1 && Column("id") != 7
            || Column("isCaptain") == true && Column("score") == 0.5 && Column("teamId") != nil
                && Column("name") == "Barbara"
    )
}

/// Comparisons of columns with columns, sums and variables.
func twelveTermsOfAll(score: Int, name: String?) -> QueryInterfaceRequest<Player> {
    Player.filter {
        $0.score + $0.bonus > score && $0.score * 2 < $0.bonus && $0.name == name && !($0.isCaptain == true)
            || [1, 2, 3].contains($0.teamId) && (1...10).contains($0.bonus) && $0.name.like("A%") && $0.id != $0.teamId
            || $0.score - 1 >= 10 && $0.bonus / 2 <= score && $0.teamId === nil && 5 < $0.score
    }
}
