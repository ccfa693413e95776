/// The names of an association in results, which depend on the number of its rows.
package struct AssociationKey: Sendable {
    /// The scope of a single joined row: `team`.
    package var singular: String
    /// The list of prefetched rows: `players`.
    package var plural: String

    /// The names derived from a table's name.
    package init(inflecting name: String) {
        let noun = EnglishNoun(name)
        singular = noun.singular
        plural = noun.plural
    }

    /// The names derived from a singular name.
    package init(singular: String) {
        self.singular = singular
        plural = EnglishNoun(singular).plural
    }

    /// The names derived from a plural name.
    package init(plural: String) {
        singular = EnglishNoun(plural).singular
        self.plural = plural
    }

    /// The same name for any number of rows.
    package init(fixed name: String) {
        singular = name
        plural = name
    }
}
