/// Notices that SQLite rolls back while handlers wait for the end of the next transaction.
///
/// A statement that fails outside a transaction is rolled back, unless it has begun to write nothing, or keeps changes.
final class HandledRollback {
    var client: HookSlots.Client?
    var hasHappened = false
}

extension Database {
    /// The end of the transaction of a statement that has failed, while only handlers wait for it.
    var endOfHandledTransaction: TransactionStateMachine.Event {
        openTransaction.handledRollback?.hasHappened ?? false && ConnectionCalls.isAutocommit(pointer)
            ? .didRollback : .none
    }
}
