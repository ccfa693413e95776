public import Foundation
public import QuarryCore

extension DatabaseCollation {
    /// A collation that compares strings.
    ///
    /// ```swift
    /// let byLength = DatabaseCollation("byLength") { lhs, rhs in
    ///     lhs.count < rhs.count ? .orderedAscending : lhs.count > rhs.count ? .orderedDescending : .orderedSame
    /// }
    /// db.add(collation: byLength)
    /// ```
    ///
    /// - parameter name: the name in SQL.
    /// - parameter function: compares two texts.
    public convenience init(_ name: String, function: @escaping @Sendable (String, String) -> ComparisonResult) {
        self.init(name, function: { (lhs: String, rhs: String) -> Int in function(lhs, rhs).rawValue })
    }

    /// The order of Swift's strings, in which canonically equivalent texts are equal: `COLLATE swiftCompare`.
    public static let unicodeCompare = DatabaseCollation("swiftCompare") { (lhs: String, rhs: String) -> Int in
        lhs == rhs ? 0 : lhs < rhs ? -1 : 1
    }

    /// Foundation's order, ignoring case: `COLLATE swiftCaseInsensitiveCompare`.
    public static let caseInsensitiveCompare = DatabaseCollation("swiftCaseInsensitiveCompare") {
        (lhs: String, rhs: String) -> ComparisonResult in lhs.caseInsensitiveCompare(rhs)
    }

    /// The order of the process's locale, ignoring case: `COLLATE swiftLocalizedCaseInsensitiveCompare`.
    ///
    /// An index in a localized order is corrupt in a process with another locale.
    public static let localizedCaseInsensitiveCompare = DatabaseCollation("swiftLocalizedCaseInsensitiveCompare") {
        (lhs: String, rhs: String) -> ComparisonResult in lhs.localizedCaseInsensitiveCompare(rhs)
    }

    /// The order of the process's locale: `COLLATE swiftLocalizedCompare`.
    ///
    /// An index in a localized order is corrupt in a process with another locale.
    public static let localizedCompare = DatabaseCollation("swiftLocalizedCompare") {
        (lhs: String, rhs: String) -> ComparisonResult in lhs.localizedCompare(rhs)
    }

    /// The order in which people sort files, `a2` before `a10`: `COLLATE swiftLocalizedStandardCompare`.
    ///
    /// An index in a localized order is corrupt in a process with another locale.
    public static let localizedStandardCompare = DatabaseCollation("swiftLocalizedStandardCompare") {
        (lhs: String, rhs: String) -> ComparisonResult in lhs.localizedStandardCompare(rhs)
    }
}
