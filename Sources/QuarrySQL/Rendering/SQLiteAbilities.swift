import QuarryCore

/// The abilities of SQLite that depend on its version and build.
package struct SQLiteAbilities: Sendable {
    /// 3040001 for 3.40.1.
    package var version: CInt

    /// Whether mathematical functions such as `SIN` exist: `SQLITE_ENABLE_MATH_FUNCTIONS`.
    package var hasMathFunctions: Bool

    /// Whether UPDATE and DELETE may have a limit: `SQLITE_ENABLE_UPDATE_DELETE_LIMIT`.
    package var limitsChanges: Bool

    /// The abilities of the linked library.
    package static let ofLibrary = SQLiteAbilities(
        version: SQLiteLibrary.versionNumber,
        hasMathFunctions: SQLiteLibrary.isBuilt(with: "ENABLE_MATH_FUNCTIONS"),
        limitsChanges: SQLiteLibrary.isBuilt(with: "ENABLE_UPDATE_DELETE_LIMIT"))
}

/// A requirement of a function, in addition to the version that the whole library requires.
package enum SQLiteRequirement: Sendable {
    /// A version: 3045000 for 3.45.0.
    case version(CInt)
    /// `SQLITE_ENABLE_MATH_FUNCTIONS`
    case mathFunctions
}

extension QueryWriter {
    /// - parameter feature: the feature with the requirement, for the message.
    /// - throws: `SQLITE_MISUSE` if this SQLite doesn't fulfill the requirement.
    func require(_ requirement: SQLiteRequirement, for feature: @autoclosure () -> String) throws {
        switch requirement {
        case .version(let version) where abilities.version < version:
            throw DatabaseError.misuse(
                "\(feature()) needs SQLite \(text(ofVersion: version)), and this is \(text(ofVersion: abilities.version))"
            )
        case .mathFunctions where !abilities.hasMathFunctions:
            throw DatabaseError.misuse("\(feature()) needs an SQLite built with SQLITE_ENABLE_MATH_FUNCTIONS")
        case .version, .mathFunctions: break
        }
    }

    private func text(ofVersion version: CInt) -> String {
        "\(version / 1_000_000).\(version / 1000 % 1000).\(version % 1000)"
    }
}
