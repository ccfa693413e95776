/// The possible names of a table, if a column or a relation names a single row of it.
enum EnglishPlural {
    /// The possible plurals of a name, the likeliest first. The last word of `homeTeam` or `home_team` changes.
    static func candidates(of name: String) -> [String] {
        var candidates = [EnglishNoun(name).plural]
        let lower = name.lowercased()
        if lower.hasSuffix("f") { candidates.append(name.dropLast() + "ves") }
        if lower.hasSuffix("fe") { candidates.append(name.dropLast(2) + "ves") }
        candidates += [name + "s", name + "es"]
        return candidates
    }
}
