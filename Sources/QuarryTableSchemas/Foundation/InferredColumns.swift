import Foundation
public import Quarry
import QuarryCore
import QuarrySQL

extension Date: InferableColumnValue {
    static var sample: Date? { Date(timeIntervalSinceReferenceDate: 0) }

    static func columnType(
        _ column: String, of recordType: (any RecordEncodingStrategies.Type)?
    ) -> ColumnTypeRecorder.Storage {
        switch recordType?.databaseDateEncodingStrategy(for: column) {
        case nil, .deferredToDate, .iso8601: .column(.datetime)
        case .timeIntervalSinceReferenceDate, .timeIntervalSince1970: .column(.double)
        case .secondsSince1970, .millisecondsSince1970: .column(.integer)
        case .formatted: .column(.text)
        case .custom: .unknown("its dates are encoded by a closure")
        }
    }
}

extension Data: InferableColumnValue {
    static var sample: Data? { Data() }

    static func columnType(
        _ column: String, of recordType: (any RecordEncodingStrategies.Type)?
    ) -> ColumnTypeRecorder.Storage {
        switch recordType?.databaseDataEncodingStrategy(for: column) {
        case nil, .deferredToData: .column(.blob)
        case .text: .column(.text)
        case .custom: .unknown("its data is encoded by a closure")
        }
    }
}

extension UUID: InferableColumnValue {
    static var sample: UUID? { UUID() }

    static func columnType(
        _ column: String, of recordType: (any RecordEncodingStrategies.Type)?
    ) -> ColumnTypeRecorder.Storage {
        switch recordType?.databaseUUIDEncodingStrategy(for: column) {
        case nil, .deferredToUUID: .column(.blob)
        case .uppercaseString, .lowercaseString: .column(.text)
        }
    }
}

extension Decimal: InferableColumnValue {
    static var sample: Decimal? { Decimal() }

    static func columnType(
        _ column: String, of recordType: (any RecordEncodingStrategies.Type)?
    ) -> ColumnTypeRecorder.Storage { .column(.text) }
}

extension URL: InferableColumnValue {
    static var sample: URL? { URL(string: "a") }

    static func columnType(
        _ column: String, of recordType: (any RecordEncodingStrategies.Type)?
    ) -> ColumnTypeRecorder.Storage { .column(.text) }
}

extension DatabaseDateComponents: InferableColumnValue {
    static var sample: DatabaseDateComponents? { DatabaseDateComponents(DateComponents(year: 2001), format: .YMD) }

    static func columnType(
        _ column: String, of recordType: (any RecordEncodingStrategies.Type)?
    ) -> ColumnTypeRecorder.Storage { .column(.datetime) }
}
