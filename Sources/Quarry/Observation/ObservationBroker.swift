import QuarryCore

/// The observations of a database.
final class ObservationBroker: Sendable {}
