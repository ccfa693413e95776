/// Plurals of English nouns, as tables may be named by them.
enum EnglishPlural {
    private static let irregular = [
        "person": "people", "man": "men", "woman": "women", "child": "children", "mouse": "mice", "goose": "geese",
        "foot": "feet", "tooth": "teeth", "ox": "oxen", "datum": "data", "medium": "media", "index": "indices",
        "vertex": "vertices", "matrix": "matrices", "analysis": "analyses", "axis": "axes", "crisis": "crises",
        "criterion": "criteria", "phenomenon": "phenomena", "quiz": "quizzes",
    ]

    /// Names that may be the plural of a name, the likeliest first. The last word of `homeTeam` or `home_team` changes.
    static func candidates(of name: String) -> [String] {
        var candidates: [String] = []
        let lower = name.lowercased()
        for (singular, plural) in irregular.sorted(by: { $0.key.count > $1.key.count }) where lower.hasSuffix(singular)
        {
            let start = name.dropLast(singular.count)
            let word = name.dropFirst(start.count)
            // A word of its own, not the end of another: "human" has no "men".
            let isWord = start.isEmpty || !(start.last?.isLetter ?? false) || (word.first?.isUppercase ?? false)
            if isWord {
                let isCapital = word.first?.isUppercase ?? false
                candidates.append(start + (isCapital ? plural.prefix(1).uppercased() + plural.dropFirst() : plural))
            }
        }
        if lower.hasSuffix("y"), let previous = lower.dropLast().last, !"aeiou".contains(previous) {
            candidates.append(name.dropLast() + "ies")
        }
        if lower.hasSuffix("f") { candidates.append(name.dropLast() + "ves") }
        if lower.hasSuffix("fe") { candidates.append(name.dropLast(2) + "ves") }
        candidates += [name + "s", name + "es"]
        return candidates
    }
}
