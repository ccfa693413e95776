public import QuarryCore

/// The format in which a dump writes rows.
///
/// The formats of the library are ``debug(header:separator:nullValue:)``, ``json(encoder:)``, ``line(nullValue:)``,
/// ``list(header:separator:nullValue:)``, ``quote(header:separator:)``, ``csv(header:separator:nullValue:blobs:)`` and
/// ``markdown(alignedRows:nullValue:blobs:)``. A custom format:
///
/// ```swift
/// struct TabDumpFormat: DumpFormat {
///     mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws {
///         let values = stream.values(of: statement)
///         stream.write(values.map { "\($0)" }.joined(separator: "\t") + "\n")
///     }
///
///     mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {}
/// }
/// ```
public protocol DumpFormat {
    /// Writes the current row of a statement.
    ///
    /// A format is used for one statement after another: `finalize` resets any state that it keeps between rows.
    ///
    /// - parameter statement: a statement with a current row. The stream provides its columns and values.
    /// - throws: any error: it ends the dump, which throws it.
    mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws

    /// Writes the end of a statement's dump, after its last row or without any row.
    mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream)
}

/// Whether a dump of tables writes their names.
public enum DumpTableHeaderOptions: Sendable {
    /// If there are several tables.
    case automatic

    /// Always.
    case always
}

/// The style in which a format for other programs writes blobs.
public enum DumpBlobStyle: Sendable {
    /// As text if the bytes are UTF-8, or else as `X'0AFF'`.
    case readable

    /// As digits: `0AFF`.
    case hexadecimal

    /// As base 64: `Cv8=`.
    case base64

    func text(_ bytes: [UInt8]) -> String {
        switch self {
        case .readable: String(validating: bytes, as: UTF8.self) ?? "X'\(bytes.digits)'"
        case .hexadecimal: bytes.digits
        case .base64: bytes.base64
        }
    }
}

extension [UInt8] {
    /// Two upper-case digits for each byte.
    var digits: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * count)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// <https://www.rfc-editor.org/rfc/rfc4648#section-4>
    fileprivate var base64: String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((count + 2) / 3 * 4)
        for start in stride(from: 0, to: count, by: 3) {
            let part = self[start..<Swift.min(start + 3, count)]
            var bits = part.reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            bits <<= UInt32(8 * (3 - part.count))
            for index in 0..<4 {
                text.append(index <= part.count ? digits[Int(bits >> UInt32(18 - 6 * index)) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The line with the names of the columns, which is written once, before the first row.
struct DumpHeader {
    private var isWritten = false

    /// Writes the line, unless it is written.
    mutating func write(
        _ statement: Statement, separator: String, to stream: inout DumpStream, _ text: (String) -> String = { $0 }
    ) {
        guard !isWritten else { return }
        isWritten = true
        stream.write(stream.columnNames(of: statement).map(text).joined(separator: separator) + "\n")
    }
}
