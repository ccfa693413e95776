import Foundation
public import QuarryCore

extension DatabaseFunction {
    /// The text with capitalized words: `swiftCapitalizedString(name)`; NULL for values that aren't text.
    public static let capitalize = text("swiftCapitalizedString", pure: true) { $0.capitalized }

    /// The text in lower case: `swiftLowercaseString(name)`; NULL for values that aren't text.
    ///
    /// SQLite's own `lower` converts only the letters A to Z.
    public static let lowercase = text("swiftLowercaseString", pure: true) { $0.lowercased() }

    /// The text in upper case: `swiftUppercaseString(name)`; NULL for values that aren't text.
    ///
    /// SQLite's own `upper` converts only the letters a to z.
    public static let uppercase = text("swiftUppercaseString", pure: true) { $0.uppercased() }

    /// As `capitalize`, by the rules of the process's locale: `swiftLocalizedCapitalizedString(name)`.
    public static let localizedCapitalize = text("swiftLocalizedCapitalizedString", pure: false) {
        $0.localizedCapitalized
    }

    /// As `lowercase`, by the rules of the process's locale: `swiftLocalizedLowercaseString(name)`.
    public static let localizedLowercase = text("swiftLocalizedLowercaseString", pure: false) {
        $0.localizedLowercase
    }

    /// As `uppercase`, by the rules of the process's locale: `swiftLocalizedUppercaseString(name)`.
    public static let localizedUppercase = text("swiftLocalizedUppercaseString", pure: false) {
        $0.localizedUppercase
    }

    private static func text(
        _ name: String, pure: Bool, _ transform: @escaping @Sendable (String) -> String
    ) -> DatabaseFunction {
        DatabaseFunction(name, pure: pure, unary: { String.fromDatabaseValue($0).map(transform) })
    }
}

extension Database {
    /// Adds the functions and collations that every connection has.
    package func addPredefinedFunctionsAndCollations() {
        addForGood(Self.predefinedFunctions, Self.predefinedCollations)
    }

    private static let predefinedFunctions: [DatabaseFunction] = [
        .capitalize, .lowercase, .uppercase, .localizedCapitalize, .localizedLowercase, .localizedUppercase,
    ]

    private static let predefinedCollations: [DatabaseCollation] = [
        .unicodeCompare, .caseInsensitiveCompare, .localizedCaseInsensitiveCompare, .localizedCompare,
        .localizedStandardCompare,
    ]
}
