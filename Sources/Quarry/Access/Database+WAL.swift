import QuarryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension Database {
    /// Switches the database to write-ahead logging: <https://www.sqlite.org/wal.html>.
    ///
    /// ```sql
    /// PRAGMA journal_mode = WAL
    /// PRAGMA synchronous = NORMAL
    /// ```
    ///
    /// The busy handler isn't asked while the journal is switched, so that two processes that open one file at a time
    /// would fail: it is tried again for some seconds.
    ///
    /// - parameter synchronous: the mode that was asked for, which is set already.
    func activateWAL(path: String, synchronous: Configuration.SynchronousMode?) throws {
        let end = SystemClock.monotonicNanoseconds() + 5_000_000_000
        while true {
            do {
                let mode = try String.fetchOne(self, sql: "PRAGMA journal_mode = WAL")
                guard mode == "wal" else {
                    throw DatabaseError(
                        message:
                            "could not activate WAL Mode at path: \(path) (its journal mode is \(mode ?? "unknown"))")
                }
                break
            } catch DatabaseError.SQLITE_BUSY where SystemClock.monotonicNanoseconds() < end {
                SystemClock.sleep(nanoseconds: 5_000_000)
            }
        }
        if synchronous == nil { try execute(sql: "PRAGMA synchronous = NORMAL") }
    }
}
