public import Quarry

/// A value inside the objects or the metadata of a collection, for indexes, filters and orders.
///
/// ```swift
/// let author = books.path("author", as: String.self)
/// let city = people.path("addresses", 0, "city", as: String.self)
/// try books.filter(author == "Melville").fetchAll(db)
/// ```
/// ```sql
/// … WHERE (collection = 'books') AND (("object" ->> '$.author') = 'Melville')
/// ```
///
/// The components are the keys of the JSON: those of the type's `CodingKeys`, as the collection's encoder writes them.
/// Swift's key paths don't know them. A path that an object doesn't have is NULL.
///
/// The other side of a comparison is encoded as the collection encodes it: a date is compared as the number or the text
/// that the JSON has. Comparing with an array or a struct throws `SQLITE_MISMATCH` when the request runs, and so does
/// comparing with a text that has a NUL: SQLite ends the texts of JSON there, also in indexes. See
/// <https://www.sqlite.org/json1.html#jptr>.
public struct DocumentPath<Value: Codable & Sendable>: Sendable {
    /// The path, without the type of its value.
    public let untypedPath: UntypedDocumentPath

    private let coding: JSONCoding

    init(_ column: String, _ components: [DocumentPathComponent], _ coding: JSONCoding) {
        untypedPath = UntypedDocumentPath(
            column: column, components: components, escapesSlashes: coding.escapesSlashes)
        self.coding = coding
    }

    /// The value as Quarry's own expressions have it, to build what this type has no operator for.
    ///
    /// ```sql
    /// "object" ->> '$.author'
    /// ```
    public var sqlExpression: SQLExpression { untypedPath.sqlExpression }

    /// The order from high to low: `"object" ->> '$.year' DESC`.
    public var desc: SQLOrdering { sqlExpression.desc }

    /// The order from low to high: `"object" ->> '$.year' ASC`.
    public var asc: SQLOrdering { sqlExpression.asc }

    func value(_ value: Value?) -> DatabaseValue {
        guard let value else { return .null }
        do {
            let scalar = try coding.scalar(of: value)
            guard case .string(let text) = scalar.storage, text.utf8.contains(0) else { return scalar }
            return .unrepresentable("a text with a NUL", reason: "SQLite ends the texts of JSON there")
        } catch {
            return .unrepresentable(
                "a value of type \(Value.self)", reason: "in JSON, it is neither a text, a number nor a bool")
        }
    }
}

extension DocumentPath: SQLOrderingTerm {
    /// The value as a term of an order.
    public var sqlOrdering: SQLOrdering { sqlExpression.sqlOrdering }
}

extension DocumentPath: DocumentIndexTerm {}

/// A component of a path: a key of an object, or an index of an array. A negative index counts from the end.
public enum DocumentPathComponent: Hashable, Sendable {
    /// A key of an object: `.name`
    case key(String)
    /// An index of an array: `[0]`, or `[#-1]` for the last element.
    case index(Int)

    /// The key of a coding key.
    public static func key(_ key: some CodingKey) -> DocumentPathComponent { .key(key.stringValue) }
}

extension DocumentPathComponent: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .key(value) }

    public init(integerLiteral value: Int) { self = .index(value) }
}

/// A path that an index may have: `DocumentPath`.
public protocol DocumentIndexTerm: Sendable {
    /// The path, without the type of its value.
    var untypedPath: UntypedDocumentPath { get }
}

/// A path, without the type of its value.
public struct UntypedDocumentPath: Sendable, Hashable {
    let column: String
    let components: [DocumentPathComponent]
    /// Whether the collection's encoder writes `/` as `\/`.
    let escapesSlashes: Bool

    /// `"object" ->> '$.author'`, or the problem of the path.
    var sql: Result<String, DatabaseError> {
        guard !components.isEmpty else { return .failure(DatabaseError.misuse("a path has a component")) }
        var path = "$"
        for component in components {
            switch component {
            case .index(let index): path += index < 0 ? "[#\(index)]" : "[\(index)]"
            case .key(let key) where key.isPlainJSONKey: path += "." + key
            case .key(let key):
                // SQLite compares keys as they are written in the JSON:
                // https://www.sqlite.org/json1.html#path_arguments
                guard key.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0 != "\"" && $0 != "\\" }) else {
                    return .failure(
                        DatabaseError.misuse(
                            "SQLite finds no key with a quote, backslash or control character: \(String(reflecting: key))"
                        ))
                }
                path += ".\"\(escapesSlashes ? key.withEscapedSlashes : key)\""
            }
        }
        return .success("\(column.quotedDatabaseIdentifier) ->> \(path.sqlText)")
    }

    var sqlExpression: SQLExpression {
        switch sql {
        case .success(let sql): SQL(sql: sql).sqlExpression
        case .failure(let error):
            DatabaseValue.unrepresentable("a document path", reason: error.message ?? "").sqlExpression
        }
    }

    /// The path as a text: `author.name`.
    var name: String {
        components.map { component in
            switch component {
            case .key(let key): key
            case .index(let index): String(index)
            }
        }.joined(separator: ".")
    }
}

extension String {
    /// The text as `JSONEncoder` writes it, unless it is told otherwise.
    fileprivate var withEscapedSlashes: String {
        var text = UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar == "/" { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }

    fileprivate var isPlainJSONKey: Bool {
        guard let first = utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}

extension DocumentCollection {
    /// A value inside the objects.
    ///
    /// ```swift
    /// let author = books.path("author", as: String.self)
    /// let title = books.path(.key(Book.CodingKeys.title), as: String.self)
    /// ```
    ///
    /// - parameter components: keys of objects and indexes of arrays.
    /// - parameter type: the type of the value; an optional's is the wrapped type.
    public func path<Value: Codable & Sendable>(
        _ components: DocumentPathComponent..., as type: Value.Type
    ) -> DocumentPath<Value> {
        DocumentPath("object", components, coding)
    }

    /// A value inside the metadata.
    ///
    /// ```swift
    /// let page = books.metadataPath("page", as: Int.self)
    /// ```
    public func metadataPath<Value: Codable & Sendable>(
        _ components: DocumentPathComponent..., as type: Value.Type
    ) -> DocumentPath<Value> {
        DocumentPath("metadata", components, coding)
    }
}

// MARK: - Operators

extension DocumentPath {
    /// `path = value`; with nil, `path IS NULL`.
    public static func == (path: DocumentPath, value: Value?) -> SQLExpression {
        path.sqlExpression == path.value(value)
    }

    /// `path <> value`; with nil, `path IS NOT NULL`. Not true for objects without the path.
    public static func != (path: DocumentPath, value: Value?) -> SQLExpression {
        path.sqlExpression != path.value(value)
    }

    /// `path < value`
    public static func < (path: DocumentPath, value: Value) -> SQLExpression {
        path.sqlExpression < path.value(value)
    }

    /// `path <= value`
    public static func <= (path: DocumentPath, value: Value) -> SQLExpression {
        path.sqlExpression <= path.value(value)
    }

    /// `path > value`
    public static func > (path: DocumentPath, value: Value) -> SQLExpression {
        path.sqlExpression > path.value(value)
    }

    /// `path >= value`
    public static func >= (path: DocumentPath, value: Value) -> SQLExpression {
        path.sqlExpression >= path.value(value)
    }
}

extension Sequence where Element: Codable & Sendable {
    /// `path IN (1, 2)`
    public func contains(_ path: DocumentPath<Element>) -> SQLExpression {
        map { path.value($0) }.contains(path.sqlExpression)
    }
}

extension ClosedRange where Bound: Codable & Sendable {
    /// `path BETWEEN 1 AND 2`
    public func contains(_ path: DocumentPath<Bound>) -> SQLExpression {
        path >= lowerBound && path <= upperBound
    }
}
