import QuarryCore

/// What the containers of a record read or write.
///
/// A container is asked for each column, and copied for it by the standard library: so it doesn't count its reference
/// to what it reads or writes. Who gives containers out keeps them, and looks when the record is over whether somebody
/// else has one: then what it refers to stays for as long.
class ContainerOwner {
    /// The container that was given out first, mostly the only one, and the type of its keys.
    @exclusivity(unchecked)
    private var firstContainer: AnyObject?

    @exclusivity(unchecked)
    private var firstKeys: ObjectIdentifier?

    /// Its type.
    @exclusivity(unchecked)
    private var firstType: ContainerType?

    @exclusivity(unchecked)
    private var otherContainers: [(keys: ObjectIdentifier, object: AnyObject)] = []

    /// Whether a container was kept beyond its record.
    @exclusivity(unchecked)
    private(set) final var isRetired = false

    /// The containers of records that are over, while somebody has them.
    ///
    /// Unchecked: of an owner that is over nobody changes anything. Its containers, wherever they are, look whether it
    /// is over, and throw.
    private struct Retired: @unchecked Sendable {
        var owners: [ContainerOwner] = []
    }

    private static let retired = Lock(Retired())

    init() {}

    /// A container that was given out.
    ///
    /// It is a struct around one object: so it can be kept for the next record, whatever its type.
    struct GivenOut {
        let object: Unmanaged<AnyObject>

        /// The type of the container, if it was the first.
        let type: Unmanaged<ContainerType>?
    }

    /// The container that was given out for a type of keys.
    @inline(__always)
    final func container(_ keys: ObjectIdentifier) -> GivenOut? {
        guard firstKeys == keys, let firstContainer else { return otherContainer(keys) }
        return GivenOut(object: .passUnretained(firstContainer), type: firstType.map { .passUnretained($0) })
    }

    @inline(never)
    private final func otherContainer(_ keys: ObjectIdentifier) -> GivenOut? {
        otherContainers.first { $0.keys == keys }.map { GivenOut(object: .passUnretained($0.object), type: nil) }
    }

    /// Keeps a container that is given out.
    ///
    /// - parameter type: makes what is known of its type.
    final func giveOut(_ object: AnyObject, _ keys: ObjectIdentifier, _ type: () -> ContainerType) {
        if firstKeys == nil {
            (firstKeys, firstContainer, firstType) = (keys, object, type())
        } else {
            otherContainers.append((keys, object))
        }
    }

    /// Whether nobody else has a container.
    @inline(__always)
    private final var isAlone: Bool {
        if firstKeys == nil { return true }
        return isKnownUniquelyReferenced(&firstContainer) && (otherContainers.isEmpty || areOthersAlone)
    }

    @inline(never)
    private final var areOthersAlone: Bool {
        otherContainers.withUnsafeMutableBufferPointer { containers in
            for index in containers.indices where !isKnownUniquelyReferenced(&containers[index].object) {
                return false
            }
            return true
        }
    }

    /// The record is over: containers that somebody has kept must find something that tells them so.
    ///
    /// - returns: whether nobody has: then others may be given out.
    @discardableResult
    @inline(__always)
    final func recordIsOver() -> Bool {
        if isAlone { return true }
        retire()
        return false
    }

    /// Stays until nobody else has a container.
    @inline(never)
    final func retire() {
        guard !isRetired else { return }
        isRetired = true
        let gone = Self.retired.withLock { retired in
            let gone = retired.owners.filter { $0.isAlone }
            retired.owners.removeAll { owner in gone.contains { $0 === owner } }
            retired.owners.append(self)
            return Retired(owners: gone)
        }
        // Outside of the lock: they may be the last to have something of the user's.
        withExtendedLifetime(gone) {}
    }
}

/// The type of a container.
class ContainerType {}

/// The type of a container, found once: where keys are of any type, Swift would look for it for each record.
final class ContainerTypeOf<Container>: ContainerType {
    /// The container that an object is.
    @inline(never)
    func container(_ object: Unmanaged<AnyObject>) -> Container {
        object._withUnsafeGuaranteedRef { unsafeBitCast($0, to: Container.self) }
    }
}
