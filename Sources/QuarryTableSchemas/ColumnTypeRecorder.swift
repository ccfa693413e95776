import Quarry
import QuarryCore
import QuarrySQL

/// Infers the columns of a record by decoding it: notes the requested keys and types, and returns meaningless sample
/// values.
final class ColumnTypeRecorder: Decoder {
    /// The storage of a property.
    enum Storage {
        case column(Database.ColumnType)
        /// The reason why the storage is unknown.
        case unknown(String)
    }

    private let recordType: any TableRecord.Type
    fileprivate(set) var columns: [InferredColumn] = []

    private init(_ recordType: any TableRecord.Type) { self.recordType = recordType }

    /// The columns of a record; none if the type isn't `Decodable`.
    ///
    /// - throws: `SQLITE_MISUSE` for a type that can't be decoded without its values.
    static func columns(of type: any TableRecord.Type) throws -> [InferredColumn] {
        guard let decodable = type as? any Decodable.Type else { return [] }
        let recorder = ColumnTypeRecorder(type)
        do {
            _ = try decodable.init(from: recorder)
        } catch {
            // The key that was requested last is the reason.
            let key = recorder.columns.last.map { ", because of \($0.name)" } ?? ""
            let reason = (error as? NoValue)?.description ?? "\(error)"
            throw DatabaseError.misuse(
                "the columns of \(type) can't be inferred\(key): \(reason); "
                    + "declare all with inferringColumns: false")
        }
        return recorder.columns
    }

    // MARK: - Decoder

    var codingPath: [any CodingKey] { [] }

    var userInfo: [CodingUserInfoKey: Any] {
        (recordType as? any RecordDecodingStrategies.Type)?.databaseDecodingUserInfo ?? [:]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RecordedContainer(recorder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoValue("it is a list") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NoValue("it is a single value") }

    // MARK: - Columns

    /// Notes a column, unless it has been noted.
    fileprivate func note(_ type: Any.Type, _ key: any CodingKey, isOptional: Bool) {
        if let optional = type as? any OptionalValue.Type { return note(optional.wrapped, key, isOptional: true) }
        let name = columnName(key)
        guard !columns.contains(where: { $0.name == name }) else { return }
        columns.append(InferredColumn(name: name, type: nil, isOptional: isOptional))
        switch storage(of: type, column: name) {
        case .column(let type): columns[columns.count - 1].type = type
        case .unknown(let reason): columns[columns.count - 1].problem = reason
        }
    }

    private func columnName(_ key: any CodingKey) -> String {
        if let type = recordType as? any RecordEncodingStrategies.Type {
            return type.databaseColumnEncodingStrategy.column(key)
        }
        if let type = recordType as? any RecordDecodingStrategies.Type,
            case .convertFromSnakeCase = type.databaseColumnDecodingStrategy
        {
            return DatabaseColumnEncodingStrategy.convertToSnakeCase.column(key)
        }
        return key.stringValue
    }

    /// - parameter depth: the number of enclosing single values.
    private func storage(of type: Any.Type, column: String, depth: Int = 0) -> Storage {
        if let known = type as? any InferableColumnValue.Type {
            return known.columnType(column, of: recordType as? any RecordEncodingStrategies.Type)
        }
        return storage(ofOther: type, column: column, depth: depth)
    }

    /// The storage of a type to which no strategy applies.
    private func storage(ofOther type: Any.Type, column: String, depth: Int = 0) -> Storage {
        switch type {
        case is Bool.Type: return .column(.boolean)
        case is any BinaryInteger.Type where type is any DatabaseValueConvertible.Type: return .column(.integer)
        case is any BinaryFloatingPoint.Type where type is any DatabaseValueConvertible.Type: return .column(.double)
        case is String.Type: return .column(.text)
        case let known as any InferableColumnValue.Type: return known.columnType(column, of: nil)
        default: break
        }
        if let raw = type as? any RawRepresentable.Type, type is any DatabaseValueConvertible.Type {
            return storage(ofRaw: raw, column: column)
        }
        if type is any DatabaseValueConvertible.Type {
            return .unknown("\(type) converts itself to a value of the database")
        }
        guard let decodable = type as? any Decodable.Type else { return .unknown("\(type) isn't Decodable") }
        // A value, or JSON: decoding a sample shows which.
        let sample = SampleDecoder()
        _ = try? decodable.init(from: sample)
        switch sample.request {
        case .value(let value):
            // The strategies of the column apply, however deeply the value is nested.
            let optional = value as? any OptionalValue.Type
            if optional != nil { columns[columns.count - 1].isOptional = true }
            let value = optional?.wrapped ?? value
            guard value != type else { return .column(.jsonText) }
            guard depth < 64 else { return .unknown("values of \(type) are nested without end") }
            return storage(of: value, column: column, depth: depth + 1)
        case .container: return .column(.jsonText)
        case nil: return .unknown("\(type) decodes nothing")
        }
    }

    /// The storage of a type that converts itself, without a strategy.
    private func storage<Raw: RawRepresentable>(ofRaw type: Raw.Type, column: String) -> Storage {
        storage(ofOther: Raw.RawValue.self, column: column)
    }
}

/// A type of Foundation with a known column type.
protocol InferableColumnValue {
    /// A meaningless value.
    static var sample: Self? { get }

    /// The declared type of a column of a record type.
    ///
    /// - parameter recordType: nil for values to which no strategy of the record type applies.
    static func columnType(
        _ column: String, of recordType: (any RecordEncodingStrategies.Type)?
    ) -> ColumnTypeRecorder.Storage
}

/// Thrown if no sample of a type can be made.
struct NoValue: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The properties of a record.
private struct RecordedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: ColumnTypeRecorder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) throws -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        recorder.note(type, key, isOptional: false)
        return try SampleDecoder.sample(of: type)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        recorder.note(type, key, isOptional: true)
        return nil
    }

    // The methods of the standard types aren't calls of the generic method.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { noteOptional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { noteOptional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { noteOptional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { noteOptional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { noteOptional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { noteOptional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { noteOptional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { noteOptional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { noteOptional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { noteOptional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { noteOptional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { noteOptional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { noteOptional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { noteOptional(type, key) }

    private func noteOptional<T: Decodable>(_ type: T.Type, _ key: Key) -> T? {
        recorder.note(type, key, isOptional: true)
        return nil
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { recorder }

    /// A part of the record that the type decodes itself is stored as JSON.
    func superDecoder(forKey key: Key) throws -> any Decoder {
        recorder.note([String: String].self, key, isOptional: false)
        return SampleDecoder()
    }
}
