public import Foundation
public import QuarryCore

/// Rows as JSON objects, in an array for each statement.
///
/// ```
/// [{"name":"Arthur","score":500},
/// {"name":"Barbara","score":null}]
/// ```
///
/// Columns keep their order, and columns with the same name are all written. Blobs are base 64, and so is text that
/// isn't UTF-8.
public struct JSONDumpFormat: DumpFormat, Sendable {
    /// The encoder of values and names. With `.prettyPrinted`, each value is on its own line.
    public var encoder: JSONEncoder

    private var isEmpty = true

    /// The names of the columns, encoded.
    private var names: [String]?

    /// The default encoder of values: blobs as base 64, infinite numbers as `"inf"` and `"-inf"`.
    public static var defaultEncoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    /// Rows as JSON objects.
    public init(encoder: JSONEncoder = JSONDumpFormat.defaultEncoder) { self.encoder = encoder }

    private var isPretty: Bool { encoder.outputFormatting.contains(.prettyPrinted) }

    /// Writes an object.
    ///
    /// - throws: the error of the encoder, which may refuse infinite numbers.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws {
        let names = try names ?? stream.columnNames(of: statement).map { try encoded($0) }
        self.names = names
        let isPretty = isPretty
        stream.write((isEmpty ? "[" : ",") + (isPretty ? "\n  {" : isEmpty ? "{" : "\n{"))
        isEmpty = false
        var separator = isPretty ? "\n    " : ""
        for (name, value) in zip(names, stream.values(of: statement)) {
            stream.write(separator + name + ":")
            stream.write(try encoded(value))
            separator = isPretty ? ",\n    " : ","
        }
        stream.write(isPretty ? "\n  }" : "}")
    }

    /// Ends the array.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        if !isEmpty {
            stream.write(isPretty ? "\n]\n" : "]\n")
        } else if statement.columnCount > 0 {
            stream.write("[]\n")
        }
        isEmpty = true
        names = nil
    }

    private func encoded(_ value: DatabaseValue) throws -> String {
        switch value.rawStorage {
        case .null: "null"
        case .int64(let integer): "\(integer)"
        case .double(let number): try encoded(number)
        case .string(let text): try encoded(text)
        case .blob(let bytes): try encoded(Data(bytes))
        }
    }

    private func encoded(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension DumpFormat where Self == JSONDumpFormat {
    /// Rows as JSON objects, in an array for each statement: `[{"name":"Arthur","score":500}]`.
    ///
    /// - parameter encoder: the encoder of values and names.
    public static func json(encoder: JSONEncoder = JSONDumpFormat.defaultEncoder) -> Self {
        JSONDumpFormat(encoder: encoder)
    }
}
