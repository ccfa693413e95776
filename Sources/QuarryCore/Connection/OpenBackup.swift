/// The part of a backup that the connection to its source keeps while it runs: closing the connection ends it.
final class OpenBackup {
    /// Nil once the backup has ended.
    var handle: BackupHandle?
    private let source: ConnectionLifetime

    init?(from source: ConnectionLifetime, to destination: SQLiteConnection) {
        guard let handle = BackupHandle(from: source.pointer, to: destination) else { return nil }
        self.handle = consume handle
        self.source = source
        source.isReadByBackup = true
    }

    var isRunning: Bool { handle != nil }

    /// Ends the backup: unless it is complete, the destination stays as it was.
    ///
    /// - returns: SQLite's code; nil if the backup had ended.
    func finish() -> CInt? {
        guard let handle = handle.take() else { return nil }
        source.isReadByBackup = false
        return handle.finish()
    }

    func abandon() { _ = finish() }
}
