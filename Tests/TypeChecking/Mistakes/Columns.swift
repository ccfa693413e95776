// Scripts/check-mistakes compiles this file: the compiler must report the errors of the comments, and no other.
import Quarry

enum Kind: String, Codable { case home, away }

struct Match: Codable, TableRecord {
    var id: Int64
    var name: String
    var score: Int?
    var kind: Kind

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let kind = Column(CodingKeys.kind)
    }
}

struct Place: Codable, TableRecord {
    var id: Int64
    var name: String
    var score: Int
}

func filters() {
    _ = Match.filter { $0.score > 1 }  // error: declare the column in `enum Columns`
    _ = Match.filter { $0.id == 1 && $0.name == "Final" }  // error: declare the column in `enum Columns`
    _ = Match.filter { $0.scor == 1 || $0.id == 1 }  // error: declare the column in `enum Columns`
    _ = Match.filter { $0.kind == .home }  // error: its values need DatabaseValueConvertible
    _ = Match.filter { $0.kind == Kind.home && $0.id == 1 }  // error: its values need DatabaseValueConvertible
    _ = Match.all().filter { $0.score > 1 }  // error: declare the column in `enum Columns`
    _ = Match.all().order(\.id).filter { $0.kind == .home }  // error: its values need DatabaseValueConvertible
    _ = Place.filter { $0.score > 1 }  // error: declare the column in `enum Columns`
    _ = Place.filter { $0.name == "Arena" || $0.score > 1 }.limit(1)  // error: declare the column in `enum Columns`
}

func orders() {
    _ = Match.order(\.name)  // error: declare the column in `enum Columns`
    _ = Match.order { $0.name }  // error: declare the column in `enum Columns`
    _ = Match.order { [$0.score.desc, $0.id] }  // error: declare the column in `enum Columns`
    _ = Match.all().order(\.name.desc)  // error: declare the column in `enum Columns`
    _ = Match.filter { $0.id > 1 }.order(\.name)  // error: declare the column in `enum Columns`
    _ = Place.order(\.name)  // error: declare the column in `enum Columns`
    _ = Place.all().order { [$0.score, $0.name] }  // error: declare the column in `enum Columns`
}

func selections() {
    _ = Match.select(\.name)  // error: declare the column in `enum Columns`
    _ = Match.all().select { [$0.id, $0.name] }  // error: declare the column in `enum Columns`
    _ = Place.select { $0.name }  // error: declare the column in `enum Columns`
    _ = Match.group { [$0.name] }  // error: declare the column in `enum Columns`
    _ = Place.all().group(\.name)  // error: declare the column in `enum Columns`
}

func texts() {
    _ = Match.filter("score > 1")  // error: use filter(sql:)
    _ = Match.all().filter("score > 1")  // error: use filter(sql:)
    _ = Match.order("score")  // error: use order(sql:)
    _ = Match.all().order("score")  // error: use order(sql:)
}
