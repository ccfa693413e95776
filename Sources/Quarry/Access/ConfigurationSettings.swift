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
struct ConfigurationSettings: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// The setting of a type; nil if it isn't set. The type isn't an optional one.
    subscript<Value: Sendable>(type: Value.Type) -> Value? {
        get { values[ObjectIdentifier(type)].flatMap { $0 as? Value } }
        set { values[ObjectIdentifier(type)] = newValue }
    }
}
