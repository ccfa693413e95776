/// A paragraph of a Debian control file, with the fields that were asked for.
struct Stanza: Sendable, Equatable {
    struct Field: Sendable, Equatable {
        var value: String
        let line: Int
    }

    /// The line of its first field, counted from 1.
    let line: Int

    /// By lower-case name: field names are case-insensitive.
    var fields: [String: Field] = [:]
}

/// Why a stanza can't be imported, and the line that says so.
public struct MalformedStanza: Error, Equatable {
    public let line: Int
    public let reason: String
}

/// Splits blocks of bytes into stanzas, as Debian policy 5.1 describes them.
///
///     var parser = ControlFileParser(keeping: ["package", "version"])
///     for try await block in blocks {
///         for stanza in parser.parse(block) { … }
///     }
///     let last = parser.finish()
///
/// Memory is bounded: at most one stanza is held, and only the fields asked for. The authority is
/// <https://www.debian.org/doc/debian-policy/ch-controlfields.html#syntax-of-control-files>.
struct ControlFileParser: Sendable {
    typealias Item = Result<Stanza, MalformedStanza>

    /// A stanza with more bytes than this is malformed: a file that isn't a control file must not fill the memory.
    static let maximumStanzaLength = 1 << 20

    private let kept: Set<String>
    private var cutLine: [UInt8] = []
    private var lineNumber = 0
    private var open: OpenStanza?

    /// - parameter kept: lower-case names of the fields whose values matter.
    init(keeping kept: Set<String>) { self.kept = kept }

    /// The stanzas that end in this block. A block may end anywhere, even inside a character.
    mutating func parse(_ block: [UInt8]) -> [Item] {
        var items: [Item] = []
        var rest = block[...]
        while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
            if cutLine.isEmpty {
                take(rest[..<newline], into: &items)
            } else {
                cutLine += rest[..<newline]
                take(cutLine[...], into: &items)
                cutLine.removeAll(keepingCapacity: true)
            }
            rest = rest[(newline + 1)...]
        }
        // One byte beyond the limit is enough for `take` to see that the stanza is too long.
        let room = Self.maximumStanzaLength + 1 - cutLine.count
        cutLine += rest.prefix(max(room, 0))
        return items
    }

    /// The stanza that the end of the file ends.
    mutating func finish() -> [Item] {
        var items: [Item] = []
        if !cutLine.isEmpty {
            take(cutLine[...], into: &items)
            cutLine = []
        }
        endStanza(into: &items)
        return items
    }

    private mutating func take(_ terminated: ArraySlice<UInt8>, into items: inout [Item]) {
        lineNumber += 1
        let line = terminated.last == UInt8(ascii: "\r") ? terminated.dropLast() : terminated
        guard let first = line.first, !line.allSatisfy(\.isBlank) else { return endStanza(into: &items) }
        if first == UInt8(ascii: "#") { return }
        if open == nil { open = OpenStanza(line: lineNumber) }
        open?.add(line, number: lineNumber, keeping: kept)
    }

    private mutating func endStanza(into items: inout [Item]) {
        guard let ended = open.take() else { return }
        items.append(ended.problem.map(Result.failure) ?? .success(ended.stanza))
    }
}

/// The stanza being read. Its first problem decides; what follows is skipped up to the next blank line.
private struct OpenStanza {
    var stanza: Stanza
    var problem: MalformedStanza?
    private var length = 0
    private var names: Set<String> = []
    private var current: String?

    init(line: Int) { stanza = Stanza(line: line) }

    mutating func add(_ line: ArraySlice<UInt8>, number: Int, keeping kept: Set<String>) {
        guard problem == nil else { return }
        length += line.count
        do throws(MalformedStanza) {
            guard length <= ControlFileParser.maximumStanzaLength else {
                throw MalformedStanza(line: number, reason: "stanza longer than 1 MiB")
            }
            guard line.isUTF8 else { throw MalformedStanza(line: number, reason: "invalid UTF-8") }
            if line[line.startIndex].isBlank {
                try addContinuation(line, number: number)
            } else {
                try addField(line, number: number, keeping: kept)
            }
        } catch {
            problem = error
        }
    }

    private mutating func addContinuation(_ line: ArraySlice<UInt8>, number: Int) throws(MalformedStanza) {
        guard let current else {
            throw MalformedStanza(line: number, reason: "continuation line without a field")
        }
        let continuation = "\n" + text(line)
        stanza.fields[current]?.value += continuation
    }

    private mutating func addField(
        _ line: ArraySlice<UInt8>, number: Int, keeping kept: Set<String>
    ) throws(MalformedStanza) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw MalformedStanza(line: number, reason: "field without a colon")
        }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        guard !name.isEmpty, name.utf8.allSatisfy({ (33...126).contains($0) }), !name.hasPrefix("-") else {
            throw MalformedStanza(line: number, reason: "bad field name \(name.quoted)")
        }
        let key = name.lowercased()
        guard names.insert(key).inserted else {
            throw MalformedStanza(line: number, reason: "duplicate field \(name.quoted)")
        }
        current = key
        if kept.contains(key) {
            stanza.fields[key] = Stanza.Field(value: text(line[(colon + 1)...]), line: number)
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        let start = bytes.firstIndex { !$0.isBlank } ?? bytes.endIndex
        let end = bytes.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? start
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }
}

extension String {
    /// Quoted and escaped for a message, which shows no more of a long text than one can read.
    ///
    /// Scalars are counted, because one character has as many combining marks as a text likes.
    var quoted: String {
        let shown = String(UnicodeScalarView(unicodeScalars.prefix(60)))
        return shown.utf8.count < utf8.count ? shown.debugDescription + "…" : debugDescription
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    /// Nearly all lines are ASCII, which needs no decoding to be known as valid.
    fileprivate var isUTF8: Bool {
        allSatisfy { $0 < 0x80 } || String(validating: self, as: UTF8.self) != nil
    }
}
