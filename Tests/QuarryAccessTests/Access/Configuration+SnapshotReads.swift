import Quarry
import QuarryTestSupport

@testable import QuarryAccess

extension Configuration {
    /// Calls `action` whenever a connection of a snapshot, but for its first one, begins its read.
    mutating func whenLaterSnapshotConnectionsRead(_ action: @escaping @Sendable () -> Void) {
        let opened = Recorded(0)
        prepareDatabase { db in
            let number = opened.update { count in
                count += 1
                return count
            }
            // The pool's writer is opened first, and the snapshot's first connection second.
            guard number > 2 else { return }
            _ = db.hooks.onTrace(.statements) { event in
                guard case .statement(_, let text) = event, String(cString: text).hasPrefix("BEGIN DEFERRED") else {
                    return
                }
                action()
            }
        }
    }
}
