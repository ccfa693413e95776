import QuarryCore

/// Reads the bytes of a changeset or patchset, change by change, and proves that they are well-formed.
///
/// The format is described in a comment of SQLite's `sqlite3session.c`:
/// <https://www.sqlite.org/src/file/ext/session/sqlite3session.c>. A table begins with a header, which its changes
/// follow:
///
/// ```
/// header  'T' or 'P', number of columns, for each column its position in the primary key or 0, name, NUL
/// change  kind, 1 if indirect or else 0, old values unless it is an insertion, new values unless it is a deletion
/// value   0 undefined | 1 integer, 8 bytes | 2 real, 8 bytes | 3 text, length, bytes | 4 blob, length, bytes | 5 NULL
/// ```
///
/// A patchset's deletion has the primary key alone, and its update has new values alone. A table may have more than one
/// header, which must be equal: SQLite takes the columns of an earlier one for those of a later one, and reads beyond
/// the end of its values.
struct ChangesetReader {
    /// The kinds of bytes, with the first byte of their headers.
    enum Format: UInt8 {
        case changeset = 0x54
        case patchset = 0x50
    }

    /// The table of the changes that are being read.
    struct Table: Hashable {
        let name: String
        /// For each column its position in the primary key, from 1; 0 for other columns.
        let primaryKeyPositions: [UInt8]
    }

    /// A change whose values are places in the bytes; nil for undefined values.
    struct StoredChange {
        let table: Table
        let kind: DatabaseEvent.Kind
        let isIndirect: Bool
        var old: [Range<Int>?]
        var new: [Range<Int>?]
    }

    let bytes: [UInt8]
    private let format: Format
    private let allowsUndefined: Bool
    private var position = 0
    private var table: Table?
    /// For the lowercase name of each table that was read, its columns' positions in the primary key.
    private var columns: [String: [UInt8]] = [:]

    /// - parameter allowsUndefined: whether an insertion may have undefined values, as in the bytes for a rebaser.
    init(_ bytes: [UInt8], _ format: Format, allowsUndefined: Bool = false) {
        self.bytes = bytes
        self.format = format
        self.allowsUndefined = allowsUndefined
    }

    /// Reads all changes.
    ///
    /// - throws: `SQLITE_CORRUPT` for bytes that are no changeset or patchset.
    static func check(_ bytes: [UInt8], _ format: Format, allowsUndefined: Bool = false) throws(DatabaseError) {
        guard bytes.count <= ChangesetCalls.maximumCount else {
            throw DatabaseError(resultCode: .SQLITE_TOOBIG, message: "a changeset of \(bytes.count) bytes is too long")
        }
        var reader = ChangesetReader(bytes, format, allowsUndefined: allowsUndefined)
        while try reader.nextStored() != nil {}
    }

    /// For the lowercase name of each table, its columns' positions in the primary key.
    ///
    /// - parameter bytes: a changeset, or the bytes for a rebaser, that were checked.
    static func columns(ofChangeset bytes: [UInt8]) -> [String: [UInt8]] {
        var reader = ChangesetReader(bytes, .changeset, allowsUndefined: true)
        while (try? reader.nextStored()) != nil {}
        return reader.columns
    }

    /// Reads the next change; nil at the end.
    mutating func next() throws(DatabaseError) -> Changeset.Change? {
        guard let stored = try nextStored() else { return nil }
        return Changeset.Change(
            table: stored.table.name, kind: stored.kind, isIndirect: stored.isIndirect,
            primaryKeyPositions: stored.table.primaryKeyPositions, oldValues: stored.old.map { $0.map(value(at:)) },
            newValues: stored.new.map { $0.map(value(at:)) })
    }

    /// Reads the next change without its values; nil at the end.
    mutating func nextStored() throws(DatabaseError) -> StoredChange? {
        while position < bytes.count, bytes[position] == format.rawValue { try readHeader() }
        guard position < bytes.count else { return nil }
        guard let table else { throw corruption("it doesn't begin with a table") }
        guard let kind = DatabaseEvent.Kind(rawValue: CInt(bytes[position])) else {
            throw corruption("there is no kind of change \(bytes[position])")
        }
        position += 1
        let isIndirect = try readByte() != 0
        let undefined = [Range<Int>?](repeating: nil, count: table.primaryKeyPositions.count)
        var change = StoredChange(table: table, kind: kind, isIndirect: isIndirect, old: undefined, new: undefined)
        switch (kind, format) {
        case (.insert, _):
            change.new = try readValues(table)
            guard allowsUndefined || !change.new.contains(nil) else {
                throw corruption("an inserted value is undefined")
            }
        case (.delete, .changeset):
            change.old = try readValues(table)
            guard allowsUndefined || !change.old.contains(nil) else { throw corruption("a deleted value is undefined") }
        case (.delete, .patchset):
            change.old = try readValues(table, primaryKeyOnly: true)
        case (.update, .changeset):
            change.old = try readValues(table)
            change.new = try readValues(table)
        case (.update, .patchset):
            change.new = try readValues(table)
            for index in undefined.indices where table.primaryKeyPositions[index] != 0 {
                change.old[index] = change.new[index]
                change.new[index] = nil
            }
        }
        try checkPrimaryKey(change)
        return change
    }

    /// SQLite notes no row with NULL in its primary key, and takes the bytes behind such a value for its length.
    private func checkPrimaryKey(_ change: StoredChange) throws(DatabaseError) {
        let keyed = change.kind == .insert ? change.new : change.old
        for index in keyed.indices where change.table.primaryKeyPositions[index] != 0 {
            guard keyed[index] != nil else { throw corruption("a value of the primary key is undefined") }
            for place in [change.old[index], change.new[index]] {
                guard let place, bytes[place.lowerBound] == 5 else { continue }
                throw corruption("a value of the primary key is NULL")
            }
        }
    }

    // MARK: - Parts

    private mutating func readHeader() throws(DatabaseError) {
        position += 1
        let count = try readLength()
        // SQLite's own limit.
        guard (1...65_536).contains(count) else { throw corruption("a table has \(count) columns") }
        let positions = Array(try readBytes(count))
        guard positions.contains(where: { $0 != 0 }) else { throw corruption("a table has no primary key") }
        guard let end = bytes[position...].firstIndex(of: 0), end > position,
            let name = String(validating: bytes[position..<end], as: UTF8.self)
        else { throw corruption("a table has no name") }
        let earlier = columns.updateValue(positions, forKey: name.lowercasedASCII)
        guard earlier == nil || earlier == positions else {
            throw corruption("table \(name) has other columns or another primary key than before")
        }
        position = end + 1
        table = Table(name: name, primaryKeyPositions: positions)
    }

    private mutating func readValues(
        _ table: Table, primaryKeyOnly: Bool = false
    ) throws(DatabaseError) -> [Range<Int>?] {
        var values: [Range<Int>?] = []
        // Each value has a byte at least: no more is reserved than the bytes can have.
        values.reserveCapacity(min(table.primaryKeyPositions.count, bytes.count - position))
        for keyPosition in table.primaryKeyPositions {
            values.append(primaryKeyOnly && keyPosition == 0 ? nil : try readValue())
        }
        return values
    }

    /// Skips a value, and returns its place with its type; nil if it is undefined.
    private mutating func readValue() throws(DatabaseError) -> Range<Int>? {
        let start = position
        switch try readByte() {
        case 0: return nil
        case 1, 2: _ = try readBytes(8)
        case 3, 4: _ = try readBytes(try readLength())
        case 5: break
        case let type: throw corruption("there is no type of values \(type)")
        }
        return start..<position
    }

    /// The value at a place that was read.
    private func value(at place: Range<Int>) -> DatabaseValue {
        var word: UInt64 { bytes[place].dropFirst().reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes[place.lowerBound] {
        case 1: return DatabaseValue(rawStorage: .int64(Int64(bitPattern: word)))
        case 2: return DatabaseValue(rawStorage: .double(Double(bitPattern: word)))
        case 3:
            let text = content(at: place)
            if let string = String(validating: text, as: UTF8.self) {
                return DatabaseValue(rawStorage: .string(string))
            }
            // As `DatabaseValue` has text that isn't UTF-8 elsewhere.
            return DatabaseValue(rawStorage: .blob(Array(text)))
        case 4: return DatabaseValue(rawStorage: .blob(Array(content(at: place))))
        default: return .null
        }
    }

    /// The bytes of a text or blob, after the type and the length.
    private func content(at place: Range<Int>) -> ArraySlice<UInt8> {
        let length = bytes[place].dropFirst()
        let count = length.prefix(8).prefix { $0 & 0x80 != 0 }.count + 1
        return length.dropFirst(count)
    }

    private mutating func readByte() throws(DatabaseError) -> UInt8 {
        guard position < bytes.count else { throw corruption("it is cut off") }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func readBytes(_ count: Int) throws(DatabaseError) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw corruption("it is cut off") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// An integer of variable length: <https://www.sqlite.org/fileformat.html#varint>.
    private mutating func readLength() throws(DatabaseError) -> Int {
        var result: UInt64 = 0
        for index in 0..<9 {
            let byte = try readByte()
            if index == 8 {
                result = result << 8 | UInt64(byte)
            } else {
                result = result << 7 | UInt64(byte & 0x7F)
                if byte & 0x80 == 0 { break }
            }
        }
        guard let length = Int(exactly: result) else { throw corruption("a length is out of range") }
        return length
    }

    private func corruption(_ reason: String) -> DatabaseError {
        let name = format == .changeset ? "changeset" : "patchset"
        return DatabaseError(
            resultCode: .SQLITE_CORRUPT, message: "the bytes are no \(name): \(reason) (byte \(position))")
    }
}
