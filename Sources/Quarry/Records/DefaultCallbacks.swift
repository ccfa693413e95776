import QuarryCore

/// The callbacks that a record type leaves to their default implementations, as far as known.
///
/// The first call to a default implementation records that the type doesn't override that callback. From then on the
/// callback is skipped, and its argument isn't built.
final class DefaultCallbacks {
    struct Callbacks: OptionSet {
        let rawValue: UInt16

        static let willSave = Callbacks(rawValue: 1)
        static let aroundSave = Callbacks(rawValue: 2)
        static let didSave = Callbacks(rawValue: 4)
        static let willInsert = Callbacks(rawValue: 8)
        static let aroundInsert = Callbacks(rawValue: 16)
        static let didInsert = Callbacks(rawValue: 32)
        static let willUpdate = Callbacks(rawValue: 64)
        static let aroundUpdate = Callbacks(rawValue: 128)
        static let didUpdate = Callbacks(rawValue: 256)

        static let aroundInserts: Callbacks = [.aroundSave, .aroundInsert]
        static let aroundUpdates: Callbacks = [.aroundSave, .aroundUpdate]
        static let inserts: Callbacks = [
            .willSave, .aroundSave, .didSave, .willInsert, .aroundInsert, .didInsert,
        ]
    }

    /// The record type.
    private let type: ObjectIdentifier

    @exclusivity(unchecked)
    private(set) var known: Callbacks = []

    init(_ type: Any.Type) { self.type = ObjectIdentifier(type) }

    /// Records that a default implementation was called for a type.
    func note(_ callback: Callbacks, _ type: Any.Type) {
        // A class may inherit the implementation of its superclass.
        if ObjectIdentifier(type) == self.type { known.insert(callback) }
    }
}
