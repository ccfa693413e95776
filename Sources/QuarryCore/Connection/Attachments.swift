/// An object that a layer above keeps with a connection: one object of each class.
package protocol ConnectionAttachment: AnyObject {
    /// Whether the object keeps statements of the connection. The connection then releases it with its own kept
    /// statements.
    static var keepsStatements: Bool { get }
}

/// The objects that the layers above keep with a connection, found by their class.
struct Attachments {
    /// The key is the object's class: `set` proves it, and `object` relies on it.
    private var entries: [(key: ObjectIdentifier, object: any ConnectionAttachment, keepsStatements: Bool)] = []

    /// The object of a class, or nil.
    func object<Object: ConnectionAttachment>(_ type: Object.Type) -> Object? {
        let key = ObjectIdentifier(type)
        for entry in entries where entry.key == key { return unsafeDowncast(entry.object, to: Object.self) }
        return nil
    }

    /// Replaces the object of a class; the latest is found first.
    mutating func set<Object: ConnectionAttachment>(_ object: Object) {
        let key = ObjectIdentifier(Object.self)
        entries.removeAll { $0.key == key }
        entries.insert((key, object, Object.keepsStatements), at: 0)
    }

    /// Releases the objects that keep statements.
    ///
    /// - returns: the objects. The caller releases them when the connection is no longer being changed.
    mutating func removeStatementKeepers() -> [any ConnectionAttachment] {
        let keepers = entries.filter(\.keepsStatements).map(\.object)
        entries.removeAll(where: \.keepsStatements)
        return keepers
    }
}
