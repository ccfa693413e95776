import Foundation
import Quarry

extension DatabaseValue {
    /// Whether the value is a date, as `Date` reads it.
    var isDate: Bool { Date.fromDatabaseValue(self) != nil }
}
