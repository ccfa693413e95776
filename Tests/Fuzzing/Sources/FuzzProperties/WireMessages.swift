import Foundation
import QuarryClusterWire

/// Bytes from a cluster's client or node: they are refused, or decoded to messages that are encoded again.
enum WireMessages {
    /// The first byte chooses the direction and the size of the pieces in which the others arrive.
    static func check(_ bytes: [UInt8]) throws {
        guard let choice = bytes.first else { return }
        var decoder = FrameDecoder(maximumBodySize: 1 << 16)
        var rest = bytes.dropFirst()
        do {
            while !rest.isEmpty {
                let piece = rest.prefix(1 + Int(choice >> 1))
                rest = rest.dropFirst(piece.count)
                decoder.append([UInt8](piece))
                while let frame = try decoder.next() {
                    try check(frame, isRequest: choice & 1 == 0, bytes)
                }
                let missing = try decoder.missingByteCount()
                if missing <= 0 {
                    throw Violation("\(missing) bytes are missing of a frame that is incomplete: \(bytes)")
                }
            }
        } catch is WireError {
            // A frame beyond the accepted size ends the connection.
            return
        }
    }

    private static func check(_ frame: Frame, isRequest: Bool, _ input: [UInt8]) throws {
        var encoded: [UInt8] = []
        if isRequest {
            guard let request = try? Request(decoding: frame) else { return }
            try request.encode(into: &encoded)
            var again: [UInt8] = []
            try Request(decoding: decode(encoded)).encode(into: &again)
            try expectEqual(again, encoded, "the request, encoded again", input)
        } else {
            guard let response = try? Response(decoding: frame) else { return }
            if case .rows(let page) = response { try check(page, input) }
            try response.encode(into: &encoded)
            var again: [UInt8] = []
            try Response(decoding: decode(encoded)).encode(into: &again)
            try expectEqual(again, encoded, "the response, encoded again", input)
        }
    }

    private static func decode(_ bytes: [UInt8]) throws -> Frame {
        var decoder = FrameDecoder()
        decoder.append(bytes)
        guard let frame = try decoder.next() else { throw Violation("an encoded message is no frame: \(bytes)") }
        return frame
    }

    /// Each row has a value for each column.
    private static func check(_ page: RowPage, _ input: [UInt8]) throws {
        if let names = try? page.columnNames() {
            try expectEqual(names.count, page.columnCount, "the number of column names", input)
        }
        var reader = page.makeReader()
        while (try? reader.next()) == true {
            try expectEqual(reader.cells.count, page.columnCount, "the number of values", input)
            for cell in reader.cells {
                let count = page.bytes(of: cell).count
                guard let value = try? page.value(of: cell) else { continue }
                switch value {
                case .text(let text), .iso8601(let text): try expectEqual(text.utf8.count, count, "a text", input)
                case .blob(let blob): try expectEqual(blob.count, count, "a blob", input)
                default: try expectEqual(count, 0, "the bytes of a number", input)
                }
            }
        }
        if (try? reader.next()) != false { throw Violation("a reader goes on behind its end: \(input)") }
    }

    /// The messages of the folder Corpus/wire, recorded from a node.
    static var seeds: [[UInt8]] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Corpus/wire")
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.sorted { $0.path < $1.path }.compactMap { try? [UInt8](Data(contentsOf: $0)) }
    }
}
