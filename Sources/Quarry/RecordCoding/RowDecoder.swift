import QuarryCore

/// Decodes records of one type from the rows of one cursor, or from a row of its own.
///
/// It stays with the cursor's row: what it has found out (which column a key reads, how a type converts) holds for all
/// rows, and its container is made once.
final class RowDecoder: ContainerOwner {
    let type: any RecordDecodingStrategies.Type
    private let typeIdentifier: ObjectIdentifier
    /// Kept: a layout that is gone could have its address taken by another one.
    private let columnsIdentity: AnyObject
    let codingPath: [any CodingKey]

    /// The row that is decoded; nil between rows, when nobody should have the decoder any more. Who decodes keeps it.
    @exclusivity(unchecked)
    private(set) var current: Unmanaged<Row>?

    /// The execution whose row was decoded last.
    @exclusivity(unchecked)
    private var executionID = Int.min

    /// Whether the row comes of the same execution as the last one.
    @exclusivity(unchecked)
    private(set) var isInSameExecution = false

    /// The plans of the containers that were given out.
    @exclusivity(unchecked)
    var plans: [KeyPlan] = []

    /// Whether the row is decoded as the value of a key that has no column. Then no column of it is that value.
    private(set) var standsForKey = false

    /// Whether a part of the record was decoded from no column: by a decoder of `parts`, or under the `rootKey`.
    @exclusivity(unchecked)
    private var hasParts = false

    /// The decoders of parts of the row, with those parts: they are over when the row is.
    @exclusivity(unchecked)
    private var parts: [(decoder: RowDecoder, row: Row)] = []

    /// How the leftmost column is decoded, by types that wrap its value.
    private(set) lazy var firstColumn = ColumnDecoding(
        type, column: current?.takeUnretainedValue().names.first ?? "")

    private lazy var columns = ColumnKeys(current?.takeUnretainedValue(), type.databaseColumnDecodingStrategy)

    /// The one key without a column that stands for the row itself.
    @exclusivity(unchecked)
    private var rootKey: String?

    /// Where records look for the decoder.
    private let slot = DecoderSlot()

    private init(_ type: any RecordDecodingStrategies.Type, _ row: Row, codingPath: [any CodingKey]) {
        self.type = type
        typeIdentifier = ObjectIdentifier(type)
        columnsIdentity = row.columnsIdentity
        self.codingPath = codingPath
        super.init()
        slot.serve(self)
    }

    deinit { slot.giveBack() }

    /// What a record is given to decode itself.
    @inline(__always)
    var forRecord: RecordDecoder { RecordDecoder(slot: slot, number: slot.number) }

    /// The same; throws if the record is over.
    func recordDecoder() throws -> RecordDecoder {
        _ = try activeRow()
        return forRecord
    }

    // MARK: - Decoding a row

    /// The decoder of a row: the one that its cursor has kept, or a new one. To be given to `end`.
    @inline(__always)
    static func begin(_ type: any RecordDecodingStrategies.Type, _ row: Row) -> Unmanaged<RowDecoder> {
        let (kept, executionID) = row.takeAttachment(RowDecoder.self)
        guard let kept else { return beginAnew(type, row, executionID) }
        let fits = kept._withUnsafeGuaranteedRef { kept in
            guard kept.typeIdentifier == ObjectIdentifier(type), row.hasColumns(kept.columnsIdentity) else {
                return false
            }
            kept.begin(row, executionID)
            return true
        }
        if fits { return kept }
        kept.release()
        return beginAnew(type, row, executionID)
    }

    @inline(never)
    private static func beginAnew(
        _ type: any RecordDecodingStrategies.Type, _ row: Row, _ executionID: Int
    ) -> Unmanaged<RowDecoder> {
        let decoder = RowDecoder(type, row, codingPath: [])
        decoder.begin(row, executionID)
        return .passRetained(decoder)
    }

    /// The record of a row is over: the row's cursor keeps its decoder for the next.
    @inline(__always)
    static func end(_ decoder: Unmanaged<RowDecoder>, _ row: Row) {
        // A container that somebody has is never used again.
        guard decoder._withUnsafeGuaranteedRef({ $0.end() }) else { return decoder.release() }
        row.keepAttachment(decoder)
    }

    /// A part of a record.
    private func decode<T: Decodable>(_ type: T.Type, from row: Row) throws -> T {
        begin(row, 0)
        defer { _ = end() }
        return try T(from: forRecord)
    }

    @inline(__always)
    private func begin(_ row: Row, _ executionID: Int) {
        isInSameExecution = executionID == self.executionID
        if !isInSameExecution { beginExecution(executionID) }
        current = Unmanaged.passUnretained(row)
    }

    @inline(never)
    private func beginExecution(_ id: Int) {
        executionID = id
        for plan in plans { plan.forgetKeys() }
    }

    /// - returns: whether nobody else has a container.
    @inline(__always)
    private func end() -> Bool {
        current = nil
        slot.recordIsOver()
        if hasParts { endParts() }
        return recordIsOver()
    }

    @inline(never)
    private func endParts() {
        hasParts = false
        rootKey = nil
        for part in parts { _ = part.decoder.end() }
        parts = []
    }

    /// A value of a row that is a scope of another, or that is decoded as something else.
    ///
    /// - parameter standsForKey: whether the row is no scope of the key's, but the row around.
    private func decode<T: Decodable>(
        _ type: T.Type, from row: Row, at key: any CodingKey, standsForKey: Bool = false
    ) throws -> T {
        if let record = type as? any (FetchableRecord & Decodable).Type {
            return try decodeRecord(record, as: type, from: row)
        }
        if let record = type as? any FetchableRecord.Type {
            return try fetchRecord(record, as: type, from: row)
        }
        let decoder = RowDecoder(self.type, row, codingPath: codingPath + [key])
        decoder.standsForKey = standsForKey
        return try decoder.decode(type, from: row)
    }

    private func decodeRecord<Record: FetchableRecord & Decodable, T>(
        _ record: Record.Type, as type: T.Type, from row: Row
    ) throws -> T {
        try reinterpret(Record(row: row))
    }

    private func fetchRecord<Record: FetchableRecord, T>(
        _ record: Record.Type, as type: T.Type, from row: Row
    ) throws -> T {
        try reinterpret(Record(row: row))
    }

    /// The row; throws if the decoder has been kept beyond its row.
    @inline(__always)
    func row() throws -> Row { try activeRow().takeUnretainedValue() }

    /// The same, for those who use it at once.
    @inline(__always)
    func activeRow() throws -> Unmanaged<Row> {
        guard let current else { throw DecoderIsOver() }
        return current
    }

    // MARK: - Columns

    func findColumn(_ key: String) -> Int? {
        if let column = columns.index(of: key) { return column }
        guard columns.areNames else { return nil }
        return current?.takeUnretainedValue().columnIndex(key)
    }

    /// The value of a column.
    func decodeColumn<T: Decodable>(
        _ type: T.Type, _ plan: KeyPlan, at place: Int, _ key: any CodingKey
    ) throws -> T {
        let row = try row()
        let fact = plan.fact(place)
        let column = fact.column
        guard fact.type == ObjectIdentifier(type), let conversion = fact.conversion else {
            return try resolve(type, row, plan, at: place, key)
        }
        switch conversion {
        case .convertible(let convertible):
            return try decodeConvertible(convertible, as: type, row, column)
        case .ownConversion(let convertible):
            return try decodeConvertible(convertible, as: type, row, column)
        case .strategy(let decode):
            let value = try row.decode(DatabaseValue.self, atIndex: column)
            guard let decoded = decode(value) else { throw mismatch(type, value, row, column, key) }
            return reinterpret(opening: decoded)
        case .singleValue(let decoding):
            let single = try singleValueDecoder(decoding, row, column, key)
            return try decodeSingleValue(type, single, decoding, row, column, key)
        case .json(let decoding):
            return try decodeJSON(type, decoding.json, row, column, key)
        }
    }

    /// Finds out how a column becomes a value of a type, and converts the first.
    @inline(never)
    private func resolve<T: Decodable>(
        _ type: T.Type, _ row: Row, _ plan: KeyPlan, at place: Int, _ key: any CodingKey
    ) throws -> T {
        let column = plan.fact(place).column
        let name = row.columnName(atUncheckedIndex: column)
        let conversion: KeyPlan.Conversion
        if let convertible = type as? any DecodedByStrategy.Type {
            conversion = self.type.strategy(convertible, name).map { .strategy($0) } ?? .ownConversion(convertible)
        } else if let convertible = type as? any DatabaseValueConvertible.Type {
            conversion = .convertible(convertible)
        } else {
            // One value, or JSON: the type itself knows.
            let decoding = ColumnDecoding(self.type, column: name)
            let single = try singleValueDecoder(decoding, row, column, key)
            let result = Result { try decodeSingleValue(type, single, decoding, row, column, key) }
            let isAlwaysJSON = single.needsJSON && !single.asksForOneValue
            plan.setConversion(
                isAlwaysJSON ? .json(decoding) : .singleValue(decoding), ObjectIdentifier(type), at: place)
            return try result.get()
        }
        plan.setConversion(conversion, ObjectIdentifier(type), at: place)
        return try decodeColumn(type, plan, at: place, key)
    }

    private func singleValueDecoder(
        _ decoding: ColumnDecoding, _ row: Row, _ column: Int, _ key: any CodingKey
    ) throws -> SingleValueDecoder {
        let value = try row.decode(DatabaseValue.self, atIndex: column)
        return SingleValueDecoder(value: value, column: decoding, path: codingPath, key: key)
    }

    /// The value of a type that asks for one value, for several, or for either, as its value is.
    private func decodeSingleValue<T: Decodable>(
        _ type: T.Type, _ single: SingleValueDecoder, _ decoding: ColumnDecoding, _ row: Row, _ column: Int,
        _ key: any CodingKey
    ) throws -> T {
        do {
            let value = try T(from: single)
            guard single.needsJSON else { return value }
            // It tried several values before it took one. Text that is the JSON of several is what it has encoded so.
            let stored = try row.decode(DatabaseValue.self, atIndex: column)
            return decoding.json.decodeSeveralValues(type, from: stored) ?? value
        } catch {
            guard single.needsJSON else {
                throw failure(error, type, row, column, key, known: codingPath.count + 1)
            }
            return try decodeJSON(type, decoding.json, row, column, key)
        }
    }

    private func decodeConvertible<C: DatabaseValueConvertible, T>(
        _ convertible: C.Type, as type: T.Type, _ row: Row, _ column: Int
    ) throws -> T {
        reinterpret(try row.decode(C.self, atIndex: column))
    }

    private func decodeJSON<T: Decodable>(
        _ type: T.Type, _ decoder: ColumnJSONDecoder, _ row: Row, _ column: Int, _ key: any CodingKey
    ) throws -> T {
        let value = try row.decode(DatabaseValue.self, atIndex: column)
        do {
            if let decoded = try decoder.decode(type, from: value) { return decoded }
        } catch {
            throw failure(error, type, row, column, key)
        }
        throw mismatch(type, value, row, column, key)
    }

    // MARK: - Keys without a column

    /// The row that stands for a key: a scope, or the row itself for the first such key.
    func nestedRow(_ key: any CodingKey) throws -> Row? {
        let row = try row()
        return row.nearestScope(key.stringValue)
    }

    /// The list of rows that was fetched besides, and stands for a key.
    func prefetchedList(_ key: any CodingKey) throws -> (list: PrefetchedRowsOfKey, parent: Int)? {
        try row().prefetchedList(key.stringValue)
    }

    /// The rows of a list, decoded.
    func decodeList<Element: Decodable>(
        _ type: Element.Type, _ list: PrefetchedRowsOfKey, _ parent: Int, at key: any CodingKey
    ) throws -> [Element] {
        if let record = type as? any FetchableRecord.Type {
            return try decodeRecords(record, as: type, list, parent)
        }
        return try list.allRows(of: parent).map { try decode(type, from: $0, at: key) }
    }

    private func decodeRecords<Record: FetchableRecord, Element>(
        _ record: Record.Type, as type: Element.Type, _ list: PrefetchedRowsOfKey, _ parent: Int
    ) throws -> [Element] {
        reinterpret(try list.records(record, of: parent))
    }

    /// The value of a key that has no column.
    func decodeNested<T: Decodable>(_ type: T.Type, _ key: any CodingKey) throws -> T {
        if let scope = try nestedRow(key) { return try decode(type, from: scope, at: key) }
        let lists = type as? any DecodableFromList.Type
        if let lists, let (list, parent) = try prefetchedList(key) {
            return try decodeLists(lists, as: type, list, parent, key)
        }
        guard !(type is any DatabaseValueConvertible.Type) else { throw columnNotFound(key) }
        guard lists == nil, rootKey == nil || rootKey == key.stringValue else { throw keyNotFound(key) }
        rootKey = key.stringValue
        hasParts = true
        do {
            return try decode(type, from: try row(), at: key, standsForKey: true)
        } catch {
            throw error.isOfRow ? error : columnNotFound(key)
        }
    }

    private func decodeLists<Lists: DecodableFromList, T>(
        _ lists: Lists.Type, as type: T.Type, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey
    ) throws -> T {
        reinterpret(try Lists(decoder: self, list, parent, key))
    }

    /// A decoder of what a key stands for.
    func nestedDecoder(_ plan: KeyPlan, at place: Int, _ key: any CodingKey) throws -> any Decoder {
        let column = plan.fact(place).column
        guard column >= 0 else {
            guard let scope = try nestedRow(key) else { throw keyNotFound(key) }
            let decoder = RowDecoder(type, scope, codingPath: codingPath + [key])
            decoder.current = Unmanaged.passUnretained(scope)
            parts.append((decoder, scope))
            hasParts = true
            return decoder.forRecord
        }
        let row = try row()
        let value = try row.decode(DatabaseValue.self, atIndex: column)
        let json = ColumnJSONDecoder(type, column: row.columnName(atUncheckedIndex: column))
        do {
            if let decoder = try json.decoder(of: value) { return decoder }
        } catch {
            throw failure(error, [String: Any].self, row, column, key)
        }
        throw mismatch([String: Any].self, value, row, column, key)
    }

    // MARK: - Errors

    /// The error of a value that has no column.
    func columnNotFound(_ key: any CodingKey) -> any Error {
        guard let current = current?.takeUnretainedValue() else { return DecoderIsOver() }
        return current.decodingError(missing(key))
    }

    /// The error of a key without a column, a scope or a list, which could be any of them.
    func keyNotFound(_ key: any CodingKey) -> any Error {
        DecodingError.keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: missing(key), underlyingError: columnNotFound(key)))
    }

    private func missing(_ key: any CodingKey) -> String {
        "column not found: \(String(reflecting: key.stringValue))\(path(key))"
    }

    func mismatch(
        _ type: Any.Type, _ value: DatabaseValue, _ row: Row, _ column: Int, _ key: any CodingKey
    ) -> any Error {
        row.decodingError(
            "could not decode \(type) from database value \(row.shown(value))\(path(key))", columnIndex: column)
    }

    /// An error of a nested decoder, with its place in the row.
    ///
    /// - parameter known: how many keys of the error's path lead to the column.
    private func failure(
        _ error: any Error, _ type: Any.Type, _ row: Row, _ column: Int, _ key: any CodingKey, known: Int = 0
    ) -> any Error {
        if error.isOfRow { return error }
        var inner = ""
        // An error of the type's own may hold the value.
        var reason = row.showsValues ? String(describing: error) : "it threw \(Swift.type(of: error))"
        if let error = error as? DecodingError {
            let context: DecodingError.Context
            switch error {
            case .typeMismatch(_, let place), .valueNotFound(_, let place), .dataCorrupted(let place): context = place
            case .keyNotFound(let missing, let place):
                context = place
                inner = ".\(missing.stringValue)"
            @unknown default: return error
            }
            inner = context.codingPath.dropFirst(known).map { ".\($0.stringValue)" }.joined() + inner
            if case .dataCorrupted = error, !row.showsValues {
                reason = "the data is not valid"
            } else {
                reason = context.debugDescription
            }
        }
        let value = (try? row.decode(DatabaseValue.self, atIndex: column)) ?? .null
        return row.decodingError(
            "could not decode \(type) from database value \(row.shown(value))\(path(key, inner)): \(reason)",
            columnIndex: column)
    }

    private func path(_ key: any CodingKey, _ inner: String = "") -> String {
        let outer = codingPath.map { "\($0.stringValue)." }.joined()
        let table = (type as? any TableRecord.Type).map { ", table: \(String(reflecting: $0.databaseTableName))" } ?? ""
        return " for key path \(outer)\(key.stringValue)\(inner) of \(type)\(table)"
    }
}

extension Error {
    /// Whether this says already which row could not be decoded.
    fileprivate var isOfRow: Bool {
        if case .keyNotFound(_, let context)? = self as? DecodingError {
            return context.underlyingError is RowDecodingError
        }
        return self is RowDecodingError
    }
}
