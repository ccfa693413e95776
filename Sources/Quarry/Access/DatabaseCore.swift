import QuarryCore

/// The part of a database that its connections share.
final class DatabaseCore: Sendable {
    /// The observations of the database.
    let observations = ObservationBroker()
}
