/// A setting that makes a part of each database that is opened with it.
///
/// ```swift
/// struct CorruptionHandling: FollowingSetting {
///     func databaseWillOpen(_ core: DatabaseCore) { _ = core.corruption }
/// }
/// ```
package protocol FollowingSetting: Sendable {
    /// The name of the setting, and its value as a text, by which two configurations are compared; nil for a value that
    /// is as good as none.
    var comparison: (name: String, value: String)? { get }

    /// A connection of the database is about to be opened.
    func databaseWillOpen(_ core: DatabaseCore)
}

/// The settings of a configuration that other rooms declare, found by their types. Without any, it allocates nothing.
///
/// ```swift
/// extension Configuration {
///     /// Where the numbers of commits come from.
///     public var commitNumbers: CommitNumbers {
///         get { settings[CommitNumbers.self] ?? .counted }
///         set { settings[CommitNumbers.self] = newValue }
///     }
/// }
/// ```
package struct ConfigurationSettings: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// The setting of a type; nil if it isn't set. The type isn't an optional one.
    package subscript<Value: Sendable>(type: Value.Type) -> Value? {
        get { values[ObjectIdentifier(type)].flatMap { $0 as? Value } }
        set { values[ObjectIdentifier(type)] = newValue }
    }

    /// The settings that make parts of databases.
    private var following: [any FollowingSetting] { values.values.compactMap { $0 as? any FollowingSetting } }

    /// The names and values of the settings that make parts of databases.
    package var comparisons: [String: String] {
        Dictionary(following.compactMap(\.comparison)) { first, _ in first }
    }

    func databaseWillOpen(_ core: DatabaseCore) {
        if !values.isEmpty { following.forEach { $0.databaseWillOpen(core) } }
    }

    /// The settings for a database of the library's own, which no room follows.
    package var withoutFollowing: ConfigurationSettings {
        var settings = self
        settings.values = values.filter { !($0.value is any FollowingSetting) }
        return settings
    }
}
