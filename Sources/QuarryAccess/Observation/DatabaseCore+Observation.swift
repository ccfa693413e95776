extension DatabaseCore {
    /// The observations of the database.
    var observations: ObservationBroker {
        if let made = observationsIfMade { return made }
        let observations = part(ObservationBroker.self) { ObservationBroker(journal) }
        // Another thread may have made them.
        journal.setObservations(observations)
        return observations
    }

    /// The observations of the database; nil if there has been none.
    var observationsIfMade: ObservationBroker? { part(ObservationBroker.self) }

    /// The number of running observations of values.
    package var observationCount: Int { observationsIfMade?.observationCount ?? 0 }
}
