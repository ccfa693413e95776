/// Notices that SQLite rolls back while handlers wait for the end of the next transaction.
///
/// A statement that fails outside a transaction is rolled back, unless it has begun to write nothing, or keeps changes.
final class HandledRollback {
    var client: HookSlots.Client?
    var hasHappened = false
}
