import QuarryCore

/// The memory of a scan, which later scans reuse.
struct CJKBuffers {
    /// The current word.
    var word: [UInt8] = []
    /// The character whose neighbour isn't known yet; briefly, both.
    var pair: [UInt8] = []
}

/// Makes tokens from the characters of a text.
struct CJKScan {
    enum Pairs {
        /// Characters are tokens.
        case none
        /// Pairs of neighbours are also tokens, at the position of the first character.
        case besides
        /// Pairs of neighbours are tokens, and the last character of a run.
        case instead
    }

    private var buffers: CJKBuffers
    private let isQuery: Bool
    private let pairs: Pairs
    private var wordRange = 0..<0
    private var gramRange = 0..<0
    /// The end of the last token.
    private var end = 0

    init(_ buffers: CJKBuffers, isQuery: Bool, pairs: Pairs) {
        self.buffers = buffers
        self.isQuery = isQuery
        self.pairs = pairs
    }

    /// The memory for the next scan, unless one long word has made it large.
    consuming func giveBack() -> CJKBuffers {
        if buffers.word.capacity > 4096 { return CJKBuffers() }
        buffers.word.removeAll(keepingCapacity: true)
        buffers.pair.removeAll(keepingCapacity: true)
        return buffers
    }

    /// Adds a byte of a word.
    @inline(__always)
    mutating func add(wordByte byte: UInt8, at position: Int, _ tokens: borrowing FTS5TokenSink) throws {
        if buffers.word.isEmpty {
            try endGrams(tokens)
            wordRange = position..<position + 1
        }
        buffers.word.append(byte)
        wordRange = wordRange.lowerBound..<position + 1
    }

    /// Adds a folded character.
    mutating func add(
        _ folded: FoldedCharacter, _ range: Range<Int>, _ tokens: borrowing FTS5TokenSink
    ) throws {
        try folded.bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            for part in folded.parts {
                let slice = UnsafeBufferPointer(rebasing: bytes[start..<part.end])
                start = part.end
                switch part.kind {
                case .separator: try endRun(tokens)
                case .gram: try add(gram: slice, range, tokens)
                case .word: try add(word: slice, range, tokens)
                case .mark:
                    if !buffers.pair.isEmpty {
                        buffers.pair.append(contentsOf: slice)
                        gramRange = gramRange.lowerBound..<range.upperBound
                    } else if !buffers.word.isEmpty {
                        try add(word: slice, range, tokens)
                    }
                }
            }
        }
    }

    private mutating func add(
        word bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ tokens: borrowing FTS5TokenSink
    ) throws {
        try endGrams(tokens)
        if buffers.word.isEmpty { wordRange = range }
        buffers.word.append(contentsOf: bytes)
        wordRange = wordRange.lowerBound..<range.upperBound
    }

    /// Adds a character that is a token.
    mutating func add(
        gram bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ tokens: borrowing FTS5TokenSink
    ) throws {
        try endWord(tokens)
        let count = buffers.pair.count
        buffers.pair.append(contentsOf: bytes)
        if count > 0 {
            let both = gramRange.lowerBound..<max(gramRange.upperBound, range.upperBound)
            switch pairs {
            case .none: try emit(buffers.pair, count, gramRange, tokens)
            case .besides:
                try emit(buffers.pair, count, gramRange, tokens)
                try buffers.pair.withUnsafeBufferPointer { try tokens.add(utf8: $0, range: both, flags: .colocated) }
            case .instead: try emit(buffers.pair, buffers.pair.count, both, tokens)
            }
            buffers.pair.removeSubrange(0..<count)
        }
        gramRange = range
    }

    /// Ends a run of characters, at a separator or the end of the text.
    @inline(__always)
    mutating func endRun(_ tokens: borrowing FTS5TokenSink) throws {
        try endWord(tokens)
        try endGrams(tokens)
    }

    @inline(__always)
    private mutating func endWord(_ tokens: borrowing FTS5TokenSink) throws {
        guard !buffers.word.isEmpty else { return }
        try emit(buffers.word, buffers.word.count, wordRange, tokens)
        buffers.word.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    private mutating func endGrams(_ tokens: borrowing FTS5TokenSink) throws {
        guard !buffers.pair.isEmpty else { return }
        try emit(buffers.pair, buffers.pair.count, gramRange, tokens)
        buffers.pair.removeAll(keepingCapacity: true)
    }

    private mutating func emit(
        _ bytes: borrowing [UInt8], _ count: Int, _ range: Range<Int>, _ tokens: borrowing FTS5TokenSink
    ) throws {
        var range = range
        if !isQuery {
            // All tokens of one character belong to the first: `highlight` can't go back.
            range = max(range.lowerBound, end)..<max(range.upperBound, end)
            end = range.upperBound
        }
        try bytes.withUnsafeBufferPointer { bytes in
            try tokens.add(utf8: UnsafeBufferPointer(rebasing: bytes[0..<count]), range: range)
        }
    }
}
