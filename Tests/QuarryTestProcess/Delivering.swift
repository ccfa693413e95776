import Foundation
import Quarry
import QuarryOutbox

/// Delivers the messages of an outbox, and says each of them, until it is killed.
func deliverForever(path: String, kind: DatabaseKind) throws {
    let writer = try kind.open(path)
    let outbox = Outbox<Int>("message")
    let options = OutboxOptions(lease: .milliseconds(20), batch: 3, pollInterval: .milliseconds(2))
    Task {
        do {
            try await outbox.deliver(from: writer, options: options) { messages in
                for message in messages { say(message.payload) }
            }
        } catch {
            fail("\(error)")
        }
    }
    while true { _ = pause() }
}
