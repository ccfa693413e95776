public import Foundation
import QuarryCore

extension ChangesetProtocol {
    /// The bytes, in SQLite's format.
    ///
    /// ```swift
    /// try changeset.data.write(to: url)
    /// ```
    public var data: Data { Data(bytes) }

    /// Checks bytes that were stored or received.
    ///
    /// ```swift
    /// let changeset = try Changeset(data: Data(contentsOf: url))
    /// ```
    ///
    /// - throws: `SQLITE_CORRUPT` for data that are no changeset, or no patchset.
    public init(data: Data) throws { try self.init(bytes: Array(data)) }
}

extension Changeset.RebaseInformation {
    /// The bytes, in SQLite's format.
    public var data: Data { Data(bytes) }

    /// Checks bytes that were stored.
    ///
    /// - throws: `SQLITE_CORRUPT` for other data.
    public init(data: Data) throws { try self.init(bytes: Array(data)) }
}
