public import Quarry
import QuarryRecovery
import QuarryTestSupport
public import Testing

/// The two forms of a call.
public enum CallForm: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sync
    case async

    public var testDescription: String { rawValue }
}

extension DatabaseReader {
    /// Backs up in one form or the other.
    public func backup(
        _ form: CallForm, toFile path: String, _ options: BackupOptions = BackupOptions(),
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)? = nil
    ) async throws -> BackupResult {
        switch form {
        case .sync: try await onOwnThread { try self.backup(toFile: path, options: options, progress: progress) }
        case .async: try await backup(toFile: path, options: options, progress: progress)
        }
    }
}

extension DatabaseWriter {
    /// Restores in one form or the other.
    public func restore(_ form: CallForm, from path: String, check: BackupCheck = .quick) async throws {
        switch form {
        case .sync: try await onOwnThread { try self.restore(from: path, check: check) }
        case .async: try await restore(from: path, check: check)
        }
    }
}

/// The synchronous forms, for tests that are asynchronous.
extension DatabaseReader {
    public func readHere<T>(_ body: (Database) throws -> T) throws -> T { try read(body) }
}

extension DatabaseWriter {
    public func writeHere<T>(_ body: (Database) throws -> T) throws -> T { try writeWithoutTransaction(body) }
}
