import Testing

@testable import PackageCatalog

struct ControlFileParserTests {
    private static let kept: Set<String> = ["package", "version", "description"]

    /// Each item as `line: package/version/description`, or `line! reason`.
    private static func parse(_ bytes: [UInt8], blockSize: Int = .max) -> [String] {
        var parser = ControlFileParser(keeping: kept)
        var items: [ControlFileParser.Item] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            items += parser.parse(Array(rest.prefix(blockSize)))
            rest = rest.dropFirst(blockSize)
        }
        items += parser.finish()
        return items.map { item in
            switch item {
            case .success(let stanza):
                "\(stanza.line): "
                    + ["package", "version", "description"].map { stanza.fields[$0]?.value ?? "-" }
                    .joined(separator: "/")
            case .failure(let malformed): "\(malformed.line)! \(malformed.reason)"
            }
        }
    }

    private static func parse(_ text: String) -> [String] { parse(Array(text.utf8)) }

    private static let sample = """
        # a comment
        Package: größe
        VERSION:1.0\u{20}
        Description: first line
         second line
        # between
        \t.
        Other: not kept
         nor this

        \u{20}\u{20}

        Package: b
        nonsense
        Version: 2

        Package: c
        """

    private static let sampleItems = [
        "2: größe/1.0/first line\nsecond line\n.", "14! field without a colon", "17: c/-/-",
    ]

    @Test func fieldsContinuationsAndComments() {
        #expect(Self.parse(Self.sample) == Self.sampleItems)
    }

    @Test func carriageReturns() {
        #expect(Self.parse(Self.sample.replacing("\n", with: "\r\n")) == Self.sampleItems)
    }

    @Test(arguments: 1...40) func blocksMayEndAnywhere(blockSize: Int) {
        #expect(Self.parse(Array(Self.sample.utf8), blockSize: blockSize) == Self.sampleItems)
    }

    @Test func emptyFiles() {
        #expect(Self.parse("") == [])
        #expect(Self.parse("\n\n# nothing\n\n") == [])
    }

    @Test(arguments: [
        ("Package: a\nno colon here\n", "2! field without a colon"),
        (" continued\nPackage: a\n", "1! continuation line without a field"),
        ("Package: a\nVersion: 1\npackage: b\n", "3! duplicate field \"package\""),
        (": value\n", "1! bad field name \"\""),
        ("-Package: a\n", "1! bad field name \"-Package\""),
        ("Package Name: a\n", "1! bad field name \"Package Name\""),
    ])
    func malformedStanzas(text: String, item: String) {
        #expect(Self.parse(text) == [item])
        #expect(Self.parse("Package: x\n\n" + text + "\n\nPackage: y").count == 3)
    }

    @Test func messagesShowNoMoreThanOneCanRead() {
        let long = String(repeating: " x", count: 5000)
        #expect(Self.parse("Package\(long): a") == ["1! bad field name \"Package\(long.prefix(53))\"…"])
    }

    @Test func invalidUTF8() {
        let bytes = Array("Package: a\nOther: ".utf8) + [0xC3, 0x28] + Array("\n\nPackage: b\n".utf8)
        #expect(Self.parse(bytes) == ["2! invalid UTF-8", "4: b/-/-"])
    }

    @Test func longLines() {
        let long = String(repeating: "x", count: 300_000)
        #expect(Self.parse(Array("Package: a\nVersion: \(long)\n".utf8), blockSize: 65_536) == ["1: a/\(long)/-"])
    }

    @Test func stanzasWithoutEnd() {
        let oneLine = "Package: a\n" + String(repeating: "x", count: 3 << 20) + "\n\nPackage: b\n"
        #expect(Self.parse(Array(oneLine.utf8), blockSize: 65_536) == ["2! stanza longer than 1 MiB", "4: b/-/-"])
        let manyLines = "Package: a\n" + String(repeating: " 12345678\n", count: 200_000) + "\nPackage: b\n"
        let items = Self.parse(Array(manyLines.utf8), blockSize: 65_536)
        #expect(items == ["116509! stanza longer than 1 MiB", "200003: b/-/-"])
    }

    /// Whatever the bytes are, the items don't depend on where blocks end.
    @Test func randomBytes() {
        let seed = UInt64.random(in: 0...(.max))
        var random = SplitMix(state: seed)
        let pieces = ["Package: a", "\n", "\n\n", " b", ":", "\r\n", "#", "Version: 1", "\t", "\u{0}", "é", "-"]
        for round in 0..<500 {
            var bytes = (0..<Int.random(in: 0...30, using: &random))
                .flatMap { _ in Array(pieces.randomElement(using: &random)!.utf8) }
            if !bytes.isEmpty, Bool.random(using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let blockSize = Int.random(in: 1...9, using: &random)
            #expect(
                Self.parse(bytes, blockSize: blockSize) == Self.parse(bytes), "seed \(seed), round \(round): \(bytes)")
        }
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
