import Synchronization

/// The owner of the containers, and of all that is known of a record type's keys, for one record after the other: of
/// the rows of a statement (`DecodingSession`), or of the records that are encoded into a target (`EncodingSession`).
///
/// User code receives decoders, encoders and keyed containers, and can keep them. These invariants hold:
///
/// 1. A session serves one record at a time. A nested record gets another session.
/// 2. Decoders and encoders own their session, and have the generation of their record. `endRecord` increments the
///    generation: a decoder that was kept finds its generation out of date, on any thread, and throws.
/// 3. A keyed container doesn't own its session, because the standard library copies it for each column. The session
///    keeps the container for its next record. So `endRecord` cuts off the containers that user code still holds: they
///    refer to nothing from then on, and throw. A session with such a container serves no other record.
/// 4. Nothing but the generation is read by other threads.
class CodingSession {
    /// Atomic, because user code may ask a decoder on any thread. A relaxed load costs the same as a plain one.
    private let records = Atomic<UInt>(0)

    /// The container that was handed out first, which is mostly the only one. It is retained, but not counted each time
    /// it is used.
    @exclusivity(unchecked)
    private var first: Unmanaged<KeptContainer>?

    /// The type of its keys.
    @exclusivity(unchecked)
    private var firstKeys: ObjectIdentifier?

    @exclusivity(unchecked)
    private var others: [KeptContainer] = []

    /// Whether a container was handed out that can't be kept, since its layout isn't the expected one.
    @exclusivity(unchecked)
    private var hasForeignContainers = false

    init() {}

    deinit { first?.release() }

    /// The number of records that have ended.
    @inline(__always)
    final var generation: UInt { records.load(ordering: .relaxed) }

    /// The container for a type of keys, from the records before.
    @inline(__always)
    final func container(_ keys: ObjectIdentifier) -> Unmanaged<KeptContainer>? {
        firstKeys == keys ? first : otherContainer(keys)
    }

    @inline(never)
    private final func otherContainer(_ keys: ObjectIdentifier) -> Unmanaged<KeptContainer>? {
        others.first { $0.keys == keys }.map { .passUnretained($0) }
    }

    /// Keeps a container that is handed out.
    @inline(never)
    final func keep<Container>(_ container: Container, _ keys: ObjectIdentifier) {
        guard ContainerLayout.isKnown else {
            hasForeignContainers = true
            return
        }
        let kept = KeptContainerOf(container, keys)
        if first == nil {
            (first, firstKeys) = (.passRetained(kept), keys)
        } else {
            others.append(kept)
        }
    }

    /// Ends a record: its decoders, encoders and containers throw from now on.
    ///
    /// - returns: whether the session can serve another record.
    @inline(__always)
    final func endRecord() -> Bool {
        records.store(generation &+ 1, ordering: .relaxed)
        if hasAllContainers { return true }
        cutOffContainers()
        return false
    }

    /// Whether user code holds no container.
    @inline(__always)
    private final var hasAllContainers: Bool {
        guard let first else { return !hasForeignContainers }
        guard first._withUnsafeGuaranteedRef({ $0.isUnshared }) else { return false }
        return others.isEmpty || hasAllOthers
    }

    @inline(never)
    private final var hasAllOthers: Bool { others.allSatisfy { $0.isUnshared } }

    @inline(never)
    private final func cutOffContainers() {
        if hasForeignContainers {
            // The slow way: such a container refers to the session for as long as it lives, so the session stays.
            _ = Unmanaged.passRetained(self)
            return
        }
        if let first = first?.takeUnretainedValue(), !first.isUnshared { first.cutOff() }
        for container in others where !container.isUnshared { container.cutOff() }
    }
}

/// A container of the standard library, `KeyedDecodingContainer` or `KeyedEncodingContainer`, that a session keeps.
///
/// Assumption: the container is one reference, to an object whose first stored property is the container that it wraps,
/// which is one optional reference. `ContainerLayout` checks that once. The slow way is in `CodingSession`: a new
/// container for each record, and a session that is never freed.
///
/// A new container for each record would cost an allocation; a counted reference, 40 of the 480 instructions of a
/// column of integers.
class KeptContainer {
    /// The type of its keys.
    final let keys: ObjectIdentifier

    @exclusivity(unchecked)
    fileprivate final var object: AnyObject?

    fileprivate init(_ object: AnyObject, _ keys: ObjectIdentifier) {
        self.object = object
        self.keys = keys
    }

    /// Whether the session holds the only reference to the container.
    @inline(__always)
    fileprivate final var isUnshared: Bool { isKnownUniquelyReferenced(&object) }

    /// Sets the reference of the wrapped container to nil.
    fileprivate final func cutOff() { reference.pointee = nil }

    /// The reference of the wrapped container: it follows the object's header of two words.
    fileprivate final var reference: UnsafeMutablePointer<UnsafeMutableRawPointer?> {
        (Unmanaged.passUnretained(object.unsafelyUnwrapped).toOpaque() + 2 * MemoryLayout<Int>.size)
            .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    /// The container.
    ///
    /// - parameter type: the type that it was kept as.
    @inline(__always)
    final func container<Container>(as type: Container.Type) -> Container {
        unsafeDowncast(self, to: KeptContainerOf<Container>.self).container()
    }
}

/// The container with its type, which was found once. Swift would look for it for each record, which costs 4 to 7 % of
/// coding a record of integers.
private final class KeptContainerOf<Container>: KeptContainer {
    init(_ container: Container, _ keys: ObjectIdentifier) {
        super.init(unsafeBitCast(container, to: AnyObject.self), keys)
    }

    @inline(never)
    func container() -> Container { unsafeBitCast(object.unsafelyUnwrapped, to: Container.self) }
}

/// The layout of the standard library's keyed containers.
enum ContainerLayout {
    /// Whether it is the expected one.
    static let isKnown: Bool = {
        let target = ContainerProbe()
        let address = Unmanaged.passUnretained(target).toOpaque()
        return withExtendedLifetime(target) {
            isKnown(address) {
                KeyedDecodingContainer(RowKeyedDecodingContainer<JSONKey>(.fromOpaque(address)))
            }
                && isKnown(address) {
                    KeyedEncodingContainer(RecordKeyedEncodingContainer<JSONKey>(.fromOpaque(address)))
                }
        }
    }()

    private final class ContainerProbe {}

    /// - parameter make: makes a container that wraps a reference to `address`.
    private static func isKnown<Container>(_ address: UnsafeMutableRawPointer, _ make: () -> Container) -> Bool {
        guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else { return false }
        let kept = KeptContainerOf(make(), ObjectIdentifier(Container.self))
        guard kept.reference.pointee == address, kept.isUnshared else { return false }
        let copy = kept.container()
        return withExtendedLifetime(copy) { !kept.isUnshared }
    }
}
