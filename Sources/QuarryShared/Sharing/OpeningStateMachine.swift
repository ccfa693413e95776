import Quarry

/// Which thread opens a shared database, as a value.
///
/// One thread at a time makes the connection that creates the file and switches it to WAL mode; others wait for it.
enum OpeningStateMachine: Equatable {
    /// No thread opens the database, whether it is open or not.
    case idle
    case opening(thread: UInt)

    enum Answer: Equatable {
        /// The thread opens the database, and `end()` follows.
        case open
        /// Another thread opens it: ask again when that has ended.
        case wait
        /// The thread opens it already: its `prepareDatabase` uses the database.
        case refuse
    }

    mutating func begin(thread: UInt) -> Answer {
        switch self {
        case .idle:
            self = .opening(thread: thread)
            return .open
        case .opening(thread): return .refuse
        case .opening: return .wait
        }
    }

    mutating func end() { self = .idle }
}
