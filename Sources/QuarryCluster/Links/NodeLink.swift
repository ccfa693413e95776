import QuarryClusterWire

/// A connection to a node, whose calls block until a deadline.
///
/// One thread at a time uses it, and that thread may change. A node answers requests in their order, so several may be
/// sent at once:
///
/// ```swift
/// let link = try NodeLink(to: address, until: deadline, waker: waker)
/// try link.send([.client(id: 1), .open(name: "app")], until: deadline)
/// let welcome = try link.receive(until: deadline)
/// let database = try link.receive(until: deadline)
/// ```
///
/// An error leaves requests without a response, or cuts one in two. The link then closes its connection, so that the
/// node rolls back at once, and throws the same error ever after. `LinkError.unsendable` is the exception.
final class NodeLink {
    /// The node.
    let address: NodeAddress

    private let waker: Waker
    private var socket: Socket
    private var decoder: FrameDecoder
    private var failure: LinkError?

    /// Whether bytes have arrived since the last request: a request acknowledges them.
    private var mayOweAcknowledgement = false

    /// The requests that are being sent.
    private var outgoing: [UInt8] = []

    /// The bytes of one `recv`, which the decoder copies.
    private let incoming: UnsafeMutableRawBufferPointer

    /// A larger buffer isn't kept for the next message.
    private static let largestKeptSize = 1 << 20

    /// The default of the largest body of a response, in bytes. A node splits rows into pages of some kilobytes, unless
    /// a single row is larger.
    static let maximumBodySize = 64 << 20

    /// Connects to a node, and sends the handshake. A node doesn't answer that.
    ///
    /// - parameter deadline: in nanoseconds of the waker's clock. The resolver of the C library may exceed it.
    /// - parameter maximumBodySize: the largest accepted body of a response, in bytes.
    convenience init(
        to address: NodeAddress, until deadline: UInt64, waker: Waker,
        maximumBodySize: Int = NodeLink.maximumBodySize
    ) throws(LinkError) {
        try self.init(
            Socket.connected(to: address, until: deadline, waker: waker), to: address, until: deadline, waker: waker,
            maximumBodySize: maximumBodySize)
    }

    /// Sends the handshake by a connected socket, such as that of an encrypting proxy. The link closes it.
    convenience init(
        takingOver descriptor: CInt, to address: NodeAddress, until deadline: UInt64, waker: Waker,
        maximumBodySize: Int = NodeLink.maximumBodySize
    ) throws(LinkError) {
        try self.init(
            Socket(takingOver: descriptor), to: address, until: deadline, waker: waker,
            maximumBodySize: maximumBodySize)
    }

    private init(
        _ socket: consuming Socket, to address: NodeAddress, until deadline: UInt64, waker: Waker, maximumBodySize: Int
    ) throws(LinkError) {
        self.address = address
        self.waker = waker
        self.socket = socket
        decoder = FrameDecoder(maximumBodySize: maximumBodySize)
        incoming = .allocate(byteCount: 65_536, alignment: 16)
        Handshake.encode(into: &outgoing)
        try flush(until: deadline)
    }

    deinit { incoming.deallocate() }

    /// Whether an error or `close()` has ended the connection.
    ///
    /// `false` says nothing of the node: a connection that it closed meanwhile is noticed by the next call.
    var isDead: Bool { failure != nil }

    /// Ends the connection. The node rolls back its transaction, if one is open.
    func close() { _ = end(.closed(address)) }

    /// Sends requests in one write.
    ///
    /// While the node doesn't read, responses are received and kept: otherwise the node, which stops reading when its
    /// responses aren't read, would wait for this process, and this process for the node.
    ///
    /// - throws: `LinkError.unsendable` if a request can't be written as bytes. None is sent then.
    func send(_ requests: [Request], until deadline: UInt64) throws(LinkError) {
        if let failure { throw failure }
        do {
            for request in requests { try request.encode(into: &outgoing) }
        } catch {
            outgoing.removeAll(keepingCapacity: true)
            throw .unsendable(error)
        }
        try flush(until: deadline)
    }

    /// Waits for the next response. `Response.rows` is a page of rows, and others may follow it.
    func receive(until deadline: UInt64) throws(LinkError) -> Response {
        if let failure { throw failure }
        while true {
            do {
                if let frame = try decoder.next() {
                    if frame.body.count > NodeLink.largestKeptSize, decoder.pendingByteCount == 0 {
                        decoder = FrameDecoder(maximumBodySize: decoder.maximumBodySize)
                    }
                    return try Response(decoding: frame)
                }
            } catch {
                throw violation(error.description)
            }
            _ = try wait(.receiving, toRead: true, until: deadline)
            try takeArrived(.receiving)
        }
    }

    /// Ends the connection, because a response isn't what the request asks for, or a page has no valid rows.
    ///
    /// - returns: the error, to be thrown.
    func violation(_ reason: String) -> LinkError { end(.protocolViolation(address, reason: reason)) }

    /// Throws if a page has other columns than it should.
    func expect(_ page: RowPage, columnCount: Int) throws(LinkError) {
        guard page.columnCount == columnCount else {
            throw violation("it sends rows of \(page.columnCount) columns rather than \(columnCount).")
        }
    }

    /// Sends `outgoing`.
    private func flush(until deadline: UInt64) throws(LinkError) {
        var sentCount = 0
        while sentCount < outgoing.count {
            switch outgoing.withUnsafeBytes({ socket.write(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }) {
            case .bytes(let count):
                sentCount += count
                mayOweAcknowledgement = false
            case .mustWait, .end:
                let ready = try wait(.sending, toRead: hasRoom, toWrite: true, until: deadline)
                if ready.canRead { try takeArrived(.sending) }
            case .failed(let errno): throw end(LinkError(errno: errno, address, .sending))
            }
        }
        if outgoing.capacity > NodeLink.largestKeptSize {
            outgoing = []
        } else {
            outgoing.removeAll(keepingCapacity: true)
        }
    }

    /// Whether responses may be kept while requests are being sent: at most the size of one, for the memory's sake.
    private var hasRoom: Bool { decoder.pendingByteCount <= decoder.maximumBodySize }

    private func wait(
        _ activity: LinkActivity, toRead: Bool, toWrite: Bool = false, until deadline: UInt64
    ) throws(LinkError) -> (canRead: Bool, canWrite: Bool) {
        if toRead, mayOweAcknowledgement {
            mayOweAcknowledgement = false
            socket.acknowledge()
        }
        switch waker.wait(for: socket.descriptor, toRead: toRead, toWrite: toWrite, until: deadline) {
        case .ready(let canRead, let canWrite): return (canRead, canWrite)
        case .woken: throw end(.interrupted)
        case .timedOut: throw end(.timedOut(address, activity))
        case .failed(let errno): throw end(.systemFailure(address, reason: LinkError.text(of: errno)))
        }
    }

    /// Moves arrived bytes to the decoder.
    private func takeArrived(_ activity: LinkActivity) throws(LinkError) {
        switch socket.read(into: incoming) {
        case .bytes(let count):
            mayOweAcknowledgement = true
            decoder.append(UnsafeRawBufferPointer(rebasing: incoming[..<count]))
        case .mustWait: break
        case .end: throw end(.closedByNode(address))
        case .failed(let errno): throw end(LinkError(errno: errno, address, activity))
        }
    }

    /// Closes the connection. The first reason remains.
    private func end(_ error: LinkError) -> LinkError {
        if let failure { return failure }
        failure = error
        socket.end()
        decoder = FrameDecoder(maximumBodySize: decoder.maximumBodySize)
        outgoing = []
        return error
    }
}

// Requests and responses of two threads would mix.
@available(*, unavailable) extension NodeLink: Sendable {}
