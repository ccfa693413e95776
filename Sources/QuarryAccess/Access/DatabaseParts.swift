import Synchronization

/// An object that a room keeps with a database, such as its tracers or its commits: one object of each class, made by
/// its first use.
///
/// ```swift
/// extension DatabaseCore {
///     /// The running backups of the database.
///     var backups: BackupsInProgress { part(BackupsInProgress.self) { BackupsInProgress() } }
/// }
/// ```
package protocol DatabasePart: AnyObject, Sendable {
    /// The connections of a queue, a pool or a snapshot of the database were closed.
    func databaseDidClose(_ reader: any GroupReader)

    /// The work beside accesses that needs some connections. Closing them waits for it: it comes as groups without
    /// connections.
    func work(on groups: [ConnectionGroup]) -> [ConnectionGroup]

    /// Removes records from memory that can be fetched again.
    ///
    /// - returns: their number.
    func releaseRecords() -> Int

    /// A statement has failed as with a damaged file, or a check has found a problem. Called inside its access: nothing
    /// may wait here.
    func connection(_ db: Database, didFailAsDamaged error: DatabaseError)
}

extension DatabasePart {
    package func databaseDidClose(_ reader: any GroupReader) {}

    package func work(on groups: [ConnectionGroup]) -> [ConnectionGroup] { [] }

    package func releaseRecords() -> Int { 0 }

    package func connection(_ db: Database, didFailAsDamaged error: DatabaseError) {}
}

/// The parts of a database, found by their class. None is removed, so looking for one takes no lock.
struct DatabaseParts: ~Copyable, Sendable {
    private final class Node: Sendable {
        let key: ObjectIdentifier
        let part: any DatabasePart
        let next = AtomicLazyReference<Node>()

        init(_ key: ObjectIdentifier, _ part: any DatabasePart) {
            self.key = key
            self.part = part
        }
    }

    private let first = AtomicLazyReference<Node>()

    /// The part of a class; nil if there is none yet.
    func part<Part: DatabasePart>(_ type: Part.Type) -> Part? {
        let key = ObjectIdentifier(type)
        var node = first.load()
        while let current = node {
            // The key is the class of the part: `part(_:make:)` alone makes nodes.
            if current.key == key { return unsafeDowncast(current.part, to: Part.self) }
            node = current.next.load()
        }
        return nil
    }

    /// The part of a class, which is made if there is none. Two threads may each make one: the first is kept.
    func part<Part: DatabasePart>(_ type: Part.Type, make: () -> Part) -> Part {
        if let part = part(type) { return part }
        // Made before its place is taken: it may need other parts.
        let new = Node(ObjectIdentifier(type), make())
        var node = first.storeIfNil(new)
        while node !== new {
            if node.key == new.key { return unsafeDowncast(node.part, to: Part.self) }
            node = node.next.storeIfNil(new)
        }
        return unsafeDowncast(new.part, to: Part.self)
    }

    /// Calls a body for each part. A part comes before those that it needed when it was made.
    func forEach(_ body: (any DatabasePart) -> Void) {
        func visit(_ node: Node?) {
            guard let node else { return }
            visit(node.next.load())
            body(node.part)
        }
        visit(first.load())
    }
}

extension DatabaseCore {
    /// The part of a class; nil if there is none yet.
    package func part<Part: DatabasePart>(_ type: Part.Type) -> Part? { parts.part(type) }

    /// The part of a class, which is made if there is none. Two threads may each make one: the first is kept.
    package func part<Part: DatabasePart>(_ type: Part.Type, make: () -> Part) -> Part { parts.part(type, make: make) }

    /// Tells the parts that a statement has failed as with a damaged file, or that a check has found a problem.
    func connection(_ db: Database, didFailAsDamaged error: DatabaseError) {
        parts.forEach { $0.connection(db, didFailAsDamaged: error) }
    }
}

extension ConnectionContext: CorruptionListener {
    func connection(_ db: Database, didFailWith error: DatabaseError) {
        core?.connection(db, didFailAsDamaged: error)
    }
}
