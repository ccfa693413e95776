import Foundation
import QuarryCore

extension Date: DecodedByStrategy, EncodedByStrategy {
    static func decoding(
        for column: String, of recordType: any RecordDecodingStrategies.Type
    ) -> ((DatabaseValue) -> Date?)? {
        let strategy = recordType.databaseDateDecodingStrategy(for: column)
        if case .deferredToDate = strategy { return nil }
        return strategy.date
    }

    static func encoding(
        for column: String, of recordType: any RecordEncodingStrategies.Type
    ) -> ((Date) -> DatabaseValue)? {
        let strategy = recordType.databaseDateEncodingStrategy(for: column)
        if case .deferredToDate = strategy { return nil }
        return strategy.databaseValue
    }

    func set(_ column: String, of target: EncodingTarget) {
        guard let text = databaseText else { return target.set(convertible: self, forColumn: column) }
        target.setText(forColumn: column, capacity: DateText.longest) { text.write(to: $0) }
    }
}

extension Data: DecodedByStrategy, EncodedByStrategy {
    static func decoding(
        for column: String, of recordType: any RecordDecodingStrategies.Type
    ) -> ((DatabaseValue) -> Data?)? {
        let strategy = recordType.databaseDataDecodingStrategy(for: column)
        if case .deferredToData = strategy { return nil }
        return strategy.data
    }

    static func encoding(
        for column: String, of recordType: any RecordEncodingStrategies.Type
    ) -> ((Data) -> DatabaseValue)? {
        let strategy = recordType.databaseDataEncodingStrategy(for: column)
        if case .deferredToData = strategy { return nil }
        return strategy.databaseValue
    }

    func set(_ column: String, of target: EncodingTarget) {
        withUnsafeBytes { target.set(bytes: $0, forColumn: column) }
    }
}

extension UUID: EncodedByStrategy {
    static func encoding(
        for column: String, of recordType: any RecordEncodingStrategies.Type
    ) -> ((UUID) -> DatabaseValue)? {
        let strategy = recordType.databaseUUIDEncodingStrategy(for: column)
        if case .deferredToUUID = strategy { return nil }
        return strategy.databaseValue
    }

    func set(_ column: String, of target: EncodingTarget) {
        Swift.withUnsafeBytes(of: uuid) { target.set(bytes: $0, forColumn: column) }
    }
}
