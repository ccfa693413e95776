/// An English noun that names tables and associations, in singular and plural.
///
/// Only the last word changes: `homeTeam` and `home_team` have the plurals `homeTeams` and `home_teams`. A number at
/// the end stays there: `team2` has the plural `teams2`.
package struct EnglishNoun: Sendable {
    /// The text before the last word.
    private let start: Substring
    /// The last word.
    private let word: Substring
    /// The number at the end.
    private let number: Substring

    package init(_ name: String) {
        let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let end = name.index(name.endIndex, offsetBy: -digits)
        number = name[end...]
        let text = name[..<end]
        var first = text.endIndex
        while first > text.startIndex {
            let previous = text.index(before: first)
            if !text[previous].isLetter { break }
            first = previous
            // A capital after a small letter begins a new word.
            if text[first].isUppercase, first > text.startIndex, text[text.index(before: first)].isLowercase { break }
        }
        start = text[..<first]
        word = text[first...]
    }

    /// The singular, from a singular or a plural.
    package var singular: String { changed(Self.singular) }

    /// The plural, from a singular or a plural.
    package var plural: String { changed { Self.plural(Self.singular($0)) } }

    private func changed(_ change: (String) -> String) -> String {
        guard !word.isEmpty else { return String(start + number) }
        let changed = change(word.lowercased())
        let common = zip(word.lowercased(), changed).prefix { $0 == $1 }.count
        let isAllCapitals = word.count > 1 && word.allSatisfy(\.isUppercase)
        var ending = String(changed.dropFirst(common))
        if isAllCapitals, common < word.count { ending = ending.uppercased() }
        if common == 0, word.first?.isUppercase == true { ending = ending.prefix(1).uppercased() + ending.dropFirst() }
        return String(start + word.prefix(common)) + ending + number
    }

    // MARK: - Words in small letters

    private static let unchanged: Set<String> = [
        "advice", "aircraft", "bison", "deer", "equipment", "fish", "furniture", "hardware", "headquarters",
        "information", "knowledge", "luggage", "metadata", "money", "moose", "music", "news", "offspring", "police",
        "rice", "salmon", "series", "sheep", "shrimp", "software", "species", "staff", "swine", "traffic", "trout",
        "weather",
    ]

    private static let irregular = [
        "alumnus": "alumni", "analysis": "analyses", "appendix": "appendices", "axis": "axes", "basis": "bases",
        "cactus": "cacti", "calf": "calves", "child": "children", "crisis": "crises", "criterion": "criteria",
        "datum": "data", "diagnosis": "diagnoses", "die": "dice", "elf": "elves", "focus": "foci", "foot": "feet",
        "fungus": "fungi", "goose": "geese", "half": "halves", "hypothesis": "hypotheses", "index": "indices",
        "knife": "knives", "leaf": "leaves", "life": "lives", "loaf": "loaves", "louse": "lice", "man": "men",
        "matrix": "matrices", "medium": "media", "mouse": "mice", "nucleus": "nuclei", "oasis": "oases", "ox": "oxen",
        "parenthesis": "parentheses", "person": "people", "phenomenon": "phenomena", "quiz": "quizzes",
        "radius": "radii", "scarf": "scarves", "self": "selves", "sheaf": "sheaves", "shelf": "shelves",
        "stimulus": "stimuli", "synopsis": "synopses", "syllabus": "syllabi", "thesis": "theses", "thief": "thieves",
        "tooth": "teeth", "vertex": "vertices", "wife": "wives", "wolf": "wolves", "woman": "women",
    ]

    private static let regular = Dictionary(irregular.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })

    /// Words in -o with the plural -es.
    private static let wordsOnO: Set<String> = [
        "buffalo", "cargo", "domino", "echo", "embargo", "hero", "mosquito", "potato", "tomato", "tornado", "torpedo",
        "veto", "volcano",
    ]

    /// Words in -ie, whose plural looks like that of a word in -y.
    private static let wordsOnIe: Set<String> = [
        "calorie", "cookie", "genie", "movie", "pie", "selfie", "tie", "zombie",
    ]

    /// Words in -oe and -che.
    private static let wordsOnE: Set<String> = ["ache", "axe", "cache", "canoe", "headache", "shoe", "toe"]

    /// Words in -s and -x with the plural -es, which looks like that of a word in -se or -xe.
    private static let wordsOnS: Set<String> = [
        "alias", "atlas", "bias", "bonus", "bus", "campus", "canvas", "census", "chorus", "circus", "corpus", "gas",
        "genius", "iris", "lens", "minus", "octopus", "plus", "prospectus", "status", "surplus", "virus",
    ]

    /// `people` and `person` become `person`.
    private static func singular(_ word: String) -> String {
        if unchanged.contains(word) || irregular[word] != nil || wordsOnS.contains(word) { return word }
        if let singular = regular[word] { return singular }
        if let compound = compound(word, of: regular) { return compound }
        guard word.count > 1, word.hasSuffix("s"), !word.hasSuffix("ss"), !word.hasSuffix("us"), !word.hasSuffix("is")
        else { return word }
        let short = String(word.dropLast())
        guard word.hasSuffix("es") else { return short }
        let stem = String(word.dropLast(2))
        if word.hasSuffix("ies") {
            return word.count == 4 || wordsOnIe.contains(short) ? short : String(word.dropLast(3)) + "y"
        }
        if wordsOnE.contains(short) { return short }
        if wordsOnO.contains(stem) || wordsOnS.contains(stem) { return stem }
        let takesEs = ["ss", "sh", "ch", "x", "zz"].contains { stem.hasSuffix($0) }
        return takesEs ? stem : short
    }

    /// `person` becomes `people`.
    private static func plural(_ word: String) -> String {
        if unchanged.contains(word) { return word }
        if let plural = irregular[word] { return plural }
        if let compound = compound(word, of: irregular) { return compound }
        if word.hasSuffix("y"), let previous = word.dropLast().last, !"aeiou".contains(previous) {
            return word.dropLast() + "ies"
        }
        if ["s", "x", "z", "ch", "sh"].contains(where: { word.hasSuffix($0) }) || wordsOnO.contains(word) {
            return word + "es"
        }
        return word + "s"
    }

    /// Words that end in an irregular word: `salesman`, `grandchild`, `housewife`.
    private static func compound(_ word: String, of words: [String: String]) -> String? {
        // These words only look like compounds: "human", "talisman", "german".
        guard !["human", "humans", "german", "germans", "roman", "shaman", "talisman"].contains(word) else {
            return nil
        }
        let endings = ["man", "men", "child", "children", "person", "people", "wife", "wives", "mouse", "mice"]
        guard let ending = endings.first(where: { word.hasSuffix($0) && word.count > $0.count + 2 }),
            let other = words[ending]
        else { return nil }
        return word.dropLast(ending.count) + other
    }
}
