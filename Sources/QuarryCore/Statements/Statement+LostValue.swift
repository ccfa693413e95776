// Values that SQLite had no memory to convert.

extension Statement {
    @usableFromInline
    struct LostValue {
        let error: any Error
        /// The number after the execution's. The statement keeps it until it runs again.
        let executionID: Int
        /// Whether the end of the access throws the error, too.
        let isAccessError: Bool
    }

    /// Called when SQLite has no memory to convert a value, which then looks like NULL. The next step would report the
    /// error; if there is none, the reset does.
    @inline(never)
    func readDidFail(_ code: CInt, _ database: Database) {
        guard ResultCode(rawValue: code).primaryResultCode == .SQLITE_NOMEM else { return }
        let error = database.error(of: self, code)
        lostValue = LostValue(
            error: error, executionID: activity.executionID, isAccessError: database.access.note(error))
    }

    /// Throws the error of `lostValue`; the end of the access doesn't throw it again.
    @usableFromInline
    @inline(never)
    func throwLostValue() throws {
        guard let lost = lostValue.take(), lost.executionID == activity.executionID else { return }
        if lost.isAccessError, lifetime.isOwned { _ = lifetime.database?.access.takeError() }
        throw lost.error
    }
}
