import QuarryCore

/// The fetch of an observation. Its identity says which observations fetch the same: a batch runs it once for all of
/// them.
final class ObservedFetch: Sendable {
    /// How the region is found.
    enum Tracking: Sendable {
        /// Each fetch reads its own region.
        case varying
        /// All fetches read the region of the first.
        case constant
        /// The regions are given.
        case regions([any DatabaseRegionConvertible])
    }

    private let fetch: @Sendable (Database) throws -> any Sendable
    let tracking: Tracking

    init(_ tracking: Tracking, _ fetch: @escaping @Sendable (Database) throws -> any Sendable) {
        self.tracking = tracking
        self.fetch = fetch
    }

    /// Whether a fetch of an observation that has its region finds it anew.
    var findsRegionEachTime: Bool {
        if case .varying = tracking { true } else { false }
    }

    /// Fetches a value.
    ///
    /// - parameter findsRegion: whether the region is found as well.
    func run(_ db: Database, findsRegion: Bool) throws -> (value: any Sendable, region: DatabaseRegion?) {
        guard findsRegion else { return (try fetch(db), nil) }
        switch tracking {
        case .varying, .constant:
            let (value, region) = try db.recordingRegion { try fetch(db) }
            return (value, region)
        case .regions(let regions):
            var region = DatabaseRegion()
            for part in regions { region.formUnion(try part.databaseRegion(db)) }
            return (try fetch(db), region)
        }
    }
}
