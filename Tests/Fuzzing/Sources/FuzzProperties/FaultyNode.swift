import Foundation
import QuarryClusterWire

/// A node that answers each request as the next bytes of an input say, and rightly behind their end.
///
/// | byte, modulo 8 | answer |
/// |---|---|
/// | 0 | the right one |
/// | 1, 2 | as many bytes as the next byte says; 2 ends the connection then |
/// | 3 | FAILURE with the code that the next byte chooses |
/// | 4 | a message: its type is the rest of the byte, the next byte is the number of its words |
/// | 5 | the end of the connection |
/// | 6 | the first half of the right one, and the end of the connection |
/// | 7 | the right one with another byte: the next two are its place and its value |
final class FaultyNode: Sendable {
    private struct State {
        var moves: ArraySlice<UInt8>
        var schemaVersion: Int64 = 1
        var connectionCount = 0
    }

    /// Used with `lock` alone: the thread sanitizer knows it, and doesn't know `Mutex` on Linux.
    nonisolated(unsafe) private var state: State

    private let lock = NSLock()

    private static let codes: [UInt64] = [0, 1, 5, 9, 12, 17, 19, 21, 787, 1555, 10_250, 10_506, .max]

    init(moves: [UInt8]) { state = State(moves: moves[...]) }

    private func withState<T>(_ body: (inout State) -> T) -> T { lock.withLock { body(&state) } }

    /// Forgets the rest of the moves. The schema has another version, in case they have told a wrong schema.
    func answersRightly() {
        withState { state in
            state.moves = []
            state.schemaVersion = .random(in: 1 << 32...1 << 48)
        }
    }

    /// A connected socket, whose other end is served by a thread.
    func connect() throws -> CInt {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Violation("no socket is left: error \(errno)")
        }
        withState { $0.connectionCount += 1 }
        let end = ends[1]
        Thread { [self] in
            serve(end)
            close(end)
            withState { $0.connectionCount -= 1 }
        }.start()
        return ends[0]
    }

    /// Waits until the other ends of all connections are closed.
    func waitUntilDisconnected(seconds: Double) -> Bool {
        let end = DispatchTime.now().uptimeNanoseconds + UInt64(seconds * 1e9)
        while withState({ $0.connectionCount }) > 0 {
            if DispatchTime.now().uptimeNanoseconds > end { return false }
            poll(nil, 0, 1)
        }
        return true
    }

    private func serve(_ descriptor: CInt) {
        var decoder = FrameDecoder()
        var answers = RightAnswers()
        var buffer = [UInt8](repeating: 0, count: 8192)
        var handshake = 8
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            let skipped = min(handshake, count)
            handshake -= skipped
            decoder.append(Array(buffer[skipped..<count]))
            while let frame = try? decoder.next() {
                guard let request = try? Request(decoding: frame) else { return }
                let (answer, isLast) = move(answers.answer(to: request, schemaVersion))
                transmit(answer, to: descriptor)
                // Otherwise, a client that sends more waits for a node that reads.
                if isLast { shutdown(descriptor, CInt(SHUT_RDWR)) }
            }
        }
    }

    private var schemaVersion: Int64 { withState { $0.schemaVersion } }

    private func transmit(_ bytes: [UInt8], to descriptor: CInt) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The next move, and whether it ends the connection.
    private func move(_ right: [UInt8]) -> (answer: [UInt8], isLast: Bool) {
        withState { state in
            func next() -> Int { state.moves.popFirst().map { Int($0) } ?? 0 }
            func next(_ count: Int) -> [UInt8] {
                defer { state.moves = state.moves.dropFirst(count) }
                return Array(state.moves.prefix(count))
            }
            let move = next()
            switch move & 7 {
            case 1: return (next(next()), false)
            case 2: return (next(next()), true)
            case 3:
                let code = Self.codes[next() % Self.codes.count]
                return (RightAnswers.encoded(.failure(code: code, message: "no such table")), false)
            case 4:
                let count = next()
                let header = FrameHeader(wordCount: UInt32(count), type: UInt8(move >> 3))
                let body = next(count * 8)
                return (header.bytes + body + [UInt8](repeating: 0, count: count * 8 - body.count), false)
            case 5: return ([], true)
            case 6: return (Array(right.prefix(right.count / 2)), true)
            case 7:
                var answer = right
                let (place, value) = (next(), next())
                answer[place % answer.count] = UInt8(value)
                return (answer, false)
            default: return (right, false)
            }
        }
    }
}

extension FrameHeader {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: word.littleEndian) { Array($0) } }
}
