/// SQLite's messages for a name in double quotes that is no column: its versions word them differently.
///
/// ```swift
/// #expect(noSuchColumn("score").contains(error?.message))
/// ```
public func noSuchColumn(_ name: String) -> [String?] {
    [
        "no such column: \(name)",
        "no such column: \"\(name)\" - should this be a string literal in single-quotes?",
    ]
}
