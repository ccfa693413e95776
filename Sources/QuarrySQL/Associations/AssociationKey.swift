/// The names of an association in results, which depend on how many rows it has there.
package struct AssociationKey: Sendable {
    /// The scope of one joined row: `team`.
    package var singular: String
    /// The rows that are fetched besides: `players`.
    package var plural: String

    /// The names by a table's.
    package init(inflecting name: String) {
        let noun = EnglishNoun(name)
        singular = noun.singular
        plural = noun.plural
    }

    /// The name that is given for one row.
    package init(singular: String) {
        self.singular = singular
        plural = EnglishNoun(singular).plural
    }

    /// The name that is given for many rows.
    package init(plural: String) {
        singular = EnglishNoun(plural).singular
        self.plural = plural
    }

    /// The name, however many rows there are.
    package init(fixed name: String) {
        singular = name
        plural = name
    }
}
