internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import PackageCatalog
internal import Synchronization

/// The body of `POST /imports` as a control file: read block by block, never held whole.
///
/// `@unchecked`: the handler reads the beginning, then the one task that imports reads the rest, never both at a time.
/// The task that watches the pace uses nothing else.
final class ImportBody: ControlFileSource, @unchecked Sendable {
    let name: String
    let byteCount: Int?
    private var blocks: RequestBody.AsyncIterator
    private let limit: Int
    /// The blocks that were read to see whether this is a control file.
    private var beginning: [[UInt8]] = []
    private var bytesRead = 0
    private let pace: Mutex<BodyPace>
    private let late: RequestError

    /// The bytes among which a package must be.
    static let beginningLength = 1 << 16

    /// - throws: `RequestError` with 413 for a body that says that it is too long.
    init(_ request: Request, name: String, limits: ServerLimits) throws {
        self.name = name
        limit = limits.importLength
        pace = Mutex(BodyPace(length: limits.bodyLength, time: limits.bodyTime))
        late = .overloaded("Fewer than \(limits.bodyLength) bytes have come in \(limits.bodyTime) of waiting.")
        byteCount = request.headers[.contentLength].flatMap { Int($0) }
        blocks = request.body.makeAsyncIterator()
        if let byteCount, byteCount > limit { throw tooLong(byteCount) }
    }

    /// Waits until the body comes too slowly.
    ///
    /// - throws: then a `RequestError`; `CancellationError`.
    func watchPace() async throws -> Never {
        while true {
            let left = pace.withLock { $0.timeLeft(at: ContinuousClock.now) }
            if left <= .zero { throw late }
            try await Task.sleep(for: max(left, .milliseconds(10)))
        }
    }

    /// Reads the beginning, until a package was found in it.
    ///
    /// - throws: `RequestError` with 400 if there is none.
    func readBeginning() async throws {
        var probe = ControlFileProbe()
        while let block = try await nextBlock() {
            beginning.append(block)
            if probe.findsPackage(in: block) { return }
            if bytesRead >= Self.beginningLength { break }
        }
        if bytesRead < Self.beginningLength, probe.findsPackageAtEnd() { return }
        guard bytesRead > 0 else { throw RequestError.bad("The body is empty; it must be a Debian control file.") }
        let reason =
            probe.reason.map { ": line \($0.line): \($0.reason)" }
            ?? (bytesRead < Self.beginningLength ? "" : ": its first \(bytesRead) bytes have no package")
        var refusal = RequestError.bad("The body is no Debian control file\(reason).")
        refusal.closesConnection = true
        throw refusal
    }

    func read(_ consume: (ControlFileBlock) async throws -> Void) async throws {
        var consumed = 0
        for block in beginning {
            consumed += block.count
            try await consume(ControlFileBlock(text: block, bytesRead: consumed))
        }
        beginning = []
        while let block = try await nextBlock() {
            try await consume(ControlFileBlock(text: block, bytesRead: bytesRead))
        }
    }

    /// - throws: `RequestError` with 413 or 400: a body that is cut off must not count as a shorter file, whose other
    ///   packages would be removed.
    private func nextBlock() async throws -> [UInt8]? {
        guard let buffer = try await receive() else {
            // The blocks of a task that is cancelled end, too.
            try Task.checkCancellation()
            if let byteCount, bytesRead < byteCount {
                throw RequestError.bad("The body ends after \(bytesRead) of \(byteCount) bytes.")
            }
            return nil
        }
        bytesRead += buffer.readableBytes
        guard bytesRead <= limit else { throw tooLong(nil) }
        return Array(buffer.readableBytesView)
    }

    /// - throws: `RequestError` with 400 if the client has broken off, or its chunks make no sense.
    private func receive() async throws -> ByteBuffer? {
        pace.withLock { $0.waitDidBegin(at: ContinuousClock.now) }
        var count = 0
        defer { pace.withLock { $0.waitDidEnd(with: count, at: ContinuousClock.now) } }
        do {
            let block = try await blocks.next()
            count = block?.readableBytes ?? 0
            return block
        } catch let error as CancellationError {
            throw error
        } catch {
            throw RequestError(
                status: .badRequest, sentence: "The body can't be read to its end: \(bytesRead) bytes came.",
                closesConnection: true)
        }
    }

    private func tooLong(_ length: Int?) -> RequestError {
        let length = length.map { "\($0)" } ?? "more than \(limit)"
        return RequestError(
            status: .contentTooLarge, sentence: "The body has \(length) bytes; at most \(limit) are allowed.",
            closesConnection: true)
    }
}
