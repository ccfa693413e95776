import QuarryCore

/// Decodes records of one type from the rows of one cursor, or from a row that has no cursor.
///
/// It stays with the cursor's statement: the facts it has found (which column a key reads, how a type converts) hold
/// for all rows, and its container is made once.
final class DecodingSession: CodingSession {
    let type: any RecordDecodingStrategies.Type
    private let typeIdentifier: ObjectIdentifier
    /// Kept, because another layout could take the address of one that is gone.
    private let columnsIdentity: AnyObject
    let codingPath: [any CodingKey]

    /// The row that is decoded; nil between rows. Whoever decodes keeps the row.
    @exclusivity(unchecked)
    private(set) var current: Unmanaged<Row>?

    /// The execution whose row was decoded last.
    @exclusivity(unchecked)
    private var executionID = Int.min

    /// Whether the row belongs to the same execution as the last one.
    @exclusivity(unchecked)
    private(set) var isInSameExecution = false

    /// The readers that the containers refer to.
    @exclusivity(unchecked)
    private var readers: [ColumnReader] = []

    /// Whether the row is decoded as the value of a key that has no column. Then no column of it is that value.
    private(set) var replacesKey = false

    /// Whether a part of the record was decoded from no column: by a session of `parts`, or under the `rootKey`.
    @exclusivity(unchecked)
    private var hasParts = false

    /// The sessions of parts of the row, with those parts: they end with the row.
    @exclusivity(unchecked)
    private var parts: [(session: DecodingSession, row: Row)] = []

    /// How the leftmost column is decoded by types that wrap its value.
    private(set) lazy var firstColumn = ColumnDecoding(
        type, column: current?.takeUnretainedValue().names.first ?? "")

    /// Nil if the keys are the names of the columns.
    private lazy var columnKeys: ColumnKeys? =
        if case .useDefaultKeys = type.databaseColumnDecodingStrategy {
            nil
        } else {
            ColumnKeys(current?.takeUnretainedValue().names ?? [], type.databaseColumnDecodingStrategy)
        }

    /// The one key without a column that means the row itself.
    @exclusivity(unchecked)
    private var rootKey: String?

    private init(_ type: any RecordDecodingStrategies.Type, _ row: Row, codingPath: [any CodingKey]) {
        self.type = type
        typeIdentifier = ObjectIdentifier(type)
        columnsIdentity = row.columnsIdentity
        self.codingPath = codingPath
        super.init()
    }

    /// The decoder for the current record.
    @inline(__always)
    var decoder: RecordDecoder { RecordDecoder(session: self, generation: generation) }

    /// The same; throws if the record has ended.
    func recordDecoder() throws -> RecordDecoder {
        _ = try activeRow()
        return decoder
    }

    // MARK: - Decoding a row

    /// The session of a row, retained: the one that its cursor has kept, or a new one. It must be passed to `end`.
    @inline(__always)
    static func begin(_ type: any RecordDecodingStrategies.Type, _ row: Row) -> Unmanaged<DecodingSession> {
        let (kept, executionID) = row.takeAttachment(DecodingSession.self)
        guard let kept else { return beginNew(type, row, executionID) }
        let fits = kept._withUnsafeGuaranteedRef { kept in
            guard kept.typeIdentifier == ObjectIdentifier(type), row.hasColumns(kept.columnsIdentity) else {
                return false
            }
            kept.begin(row, executionID)
            return true
        }
        if fits { return kept }
        kept.release()
        return beginNew(type, row, executionID)
    }

    @inline(never)
    private static func beginNew(
        _ type: any RecordDecodingStrategies.Type, _ row: Row, _ executionID: Int
    ) -> Unmanaged<DecodingSession> {
        let session = DecodingSession(type, row, codingPath: [])
        session.begin(row, executionID)
        return .passRetained(session)
    }

    /// Ends the record of a row: the row's cursor keeps the session for the next row.
    @inline(__always)
    static func end(_ session: Unmanaged<DecodingSession>, _ row: Row) {
        guard session._withUnsafeGuaranteedRef({ $0.end() }) else { return session.release() }
        row.keepAttachment(session)
    }

    /// A part of a record.
    private func decode<T: Decodable>(_ type: T.Type, from row: Row) throws -> T {
        begin(row, 0)
        defer { _ = end() }
        return try T(from: decoder)
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
        for reader in readers { reader.forgetKeys() }
    }

    /// - returns: whether the session can serve another row.
    @inline(__always)
    private func end() -> Bool {
        current = nil
        if hasParts { endParts() }
        return endRecord()
    }

    @inline(never)
    private func endParts() {
        hasParts = false
        rootKey = nil
        for part in parts { _ = part.session.end() }
        parts = []
    }

    /// The container for a type of keys: the one of the last record, or a new one.
    @inline(__always)
    func container<Key: CodingKey>(keyedBy keys: Key.Type) -> KeyedDecodingContainer<Key> {
        guard let kept = container(ObjectIdentifier(keys)) else { return newContainer(keyedBy: keys) }
        return kept._withUnsafeGuaranteedRef { $0.container(as: KeyedDecodingContainer<Key>.self) }
    }

    @inline(never)
    private func newContainer<Key: CodingKey>(keyedBy keys: Key.Type) -> KeyedDecodingContainer<Key> {
        let reader = ColumnReader(self)
        readers.append(reader)
        let container = KeyedDecodingContainer(RowKeyedDecodingContainer<Key>(.passUnretained(reader)))
        keep(container, ObjectIdentifier(keys))
        return container
    }

    /// A value that is decoded from a row: from a scope, or from the row around.
    ///
    /// - parameter replacesKey: whether the row isn't the key's scope, but the row around.
    private func decode<T: Decodable>(
        _ type: T.Type, from row: Row, at key: any CodingKey, replacesKey: Bool = false
    ) throws -> T {
        if let record = type as? any (FetchableRecord & Decodable).Type {
            return try decodeRecord(record, as: type, from: row)
        }
        if let record = type as? any FetchableRecord.Type {
            return try fetchRecord(record, as: type, from: row)
        }
        let session = DecodingSession(self.type, row, codingPath: codingPath + [key])
        session.replacesKey = replacesKey
        return try session.decode(type, from: row)
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

    /// The row; throws if the record has ended.
    @inline(__always)
    func row() throws -> Row { try activeRow().takeUnretainedValue() }

    /// The same, to be used at once.
    @inline(__always)
    func activeRow() throws -> Unmanaged<Row> {
        guard let current else { throw DecoderHasEnded() }
        return current
    }

    // MARK: - Columns

    /// The column of a key: among columns with the same name, the leftmost, as a row finds it.
    func findColumn(_ key: String) -> Int? {
        guard let row = current?.takeUnretainedValue() else { return nil }
        guard let columnKeys else { return row.columnIndex(key) }
        return columnKeys.index(of: key).flatMap { row.columnIndex(row.columnName(atUncheckedIndex: $0)) }
    }

    /// The value of a column.
    func decodeColumn<T: Decodable>(
        _ type: T.Type, _ reader: ColumnReader, at place: Int, _ key: any CodingKey
    ) throws -> T {
        let row = try row()
        let fact = reader.fact(place)
        let column = fact.column
        guard fact.type == ObjectIdentifier(type), let conversion = fact.conversion else {
            return try resolve(type, row, reader, at: place, key)
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
        _ type: T.Type, _ row: Row, _ reader: ColumnReader, at place: Int, _ key: any CodingKey
    ) throws -> T {
        let column = reader.fact(place).column
        let name = row.columnName(atUncheckedIndex: column)
        let conversion: ColumnReader.Conversion
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
            reader.setConversion(
                isAlwaysJSON ? .json(decoding) : .singleValue(decoding), ObjectIdentifier(type), at: place)
            return try result.get()
        }
        reader.setConversion(conversion, ObjectIdentifier(type), at: place)
        return try decodeColumn(type, reader, at: place, key)
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
            // It tried several values before it took one. Text that is the JSON of several values was encoded by it.
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

    /// The scope with the name of a key.
    func nestedRow(_ key: any CodingKey) throws -> Row? {
        let row = try row()
        return row.nearestScope(key.stringValue)
    }

    /// The list of prefetched rows with the name of a key.
    func prefetchedList(_ key: any CodingKey) throws -> (list: PrefetchedRowsOfKey, parent: Int)? {
        try row().prefetchedList(key.stringValue)
    }

    /// The records of a list.
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
        guard lists == nil, rootKey == nil || rootKey == key.stringValue else {
            throw keyNotFound(key, isList: lists != nil)
        }
        rootKey = key.stringValue
        hasParts = true
        do {
            return try decode(type, from: try row(), at: key, replacesKey: true)
        } catch {
            throw failure(error, ofRowReplacing: key)
        }
    }

    private func decodeLists<Lists: DecodableFromList, T>(
        _ lists: Lists.Type, as type: T.Type, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey
    ) throws -> T {
        reinterpret(try Lists(session: self, list, parent, key))
    }

    /// The decoder for the value of a key: the scope with its name, or its column's JSON.
    func nestedDecoder(_ reader: ColumnReader, at place: Int, _ key: any CodingKey) throws -> any Decoder {
        let column = reader.fact(place).column
        guard column >= 0 else {
            guard let scope = try nestedRow(key) else { throw keyNotFound(key) }
            let session = DecodingSession(type, scope, codingPath: codingPath + [key])
            session.current = Unmanaged.passUnretained(scope)
            parts.append((session, scope))
            hasParts = true
            return session.decoder
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
}

/// The error of a decoder or container that was kept beyond its record.
struct DecoderHasEnded: Error, CustomStringConvertible {
    var description: String { "a row's decoder has been used after the row" }
}
