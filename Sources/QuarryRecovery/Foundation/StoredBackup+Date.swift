public import Foundation
import Quarry

extension StoredBackup {
    /// The time at which the backup was begun, as its name says.
    ///
    /// ```swift
    /// if let newest = try folder.backups().first, newest.date < .now - 86_400 { print("no backup since yesterday") }
    /// ```
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
