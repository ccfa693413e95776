import QuarrySQL
import Testing

@Suite struct EnglishNounTests {
    @Test(arguments: [
        ("team", "teams"), ("player", "players"), ("city", "cities"), ("day", "days"), ("box", "boxes"),
        ("class", "classes"), ("dish", "dishes"), ("match", "matches"), ("house", "houses"), ("cache", "caches"),
        ("person", "people"), ("child", "children"), ("salesman", "salesmen"), ("human", "humans"), ("hero", "heroes"),
        ("photo", "photos"), ("movie", "movies"), ("tie", "ties"), ("shoe", "shoes"), ("status", "statuses"),
        ("analysis", "analyses"), ("index", "indices"), ("knife", "knives"), ("leaf", "leaves"), ("roof", "roofs"),
        ("sheep", "sheep"), ("news", "news"), ("bus", "buses"), ("address", "addresses"), ("quiz", "quizzes"),
        ("homeTeam", "homeTeams"), ("home_person", "home_people"), ("HomePerson", "HomePeople"), ("team2", "teams2"),
        ("URL", "URLs"), ("Person", "People"), ("category", "categories"), ("citizenship", "citizenships"),
        ("datum", "data"), ("", ""), ("42", "42"), ("équipe", "équipes"),
        ("d", "ds"), ("d2", "ds2"), ("item2", "items2"),
    ])
    func singularAndPlural(singular: String, plural: String) {
        #expect(EnglishNoun(singular).plural == plural)
        #expect(EnglishNoun(plural).singular == singular)
        #expect(EnglishNoun(plural).plural == plural)
        #expect(EnglishNoun(singular).singular == singular)
    }
}
