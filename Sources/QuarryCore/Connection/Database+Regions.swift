extension Database {
    /// Runs `body`, and returns the region that its statements read.
    package func recordingRegion<T>(_ body: () throws -> T) throws -> (value: T, region: DatabaseRegion) {
        (try body(), .fullDatabase)
    }
}
