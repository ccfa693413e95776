/// How long an import has waited for the next bytes of a body: time that it spends with the database doesn't count.
struct BodyPace: Sendable {
    private let length: Int
    private let time: Duration
    private var received = 0
    private var waited = Duration.zero
    private var waitStart: ContinuousClock.Instant?

    /// - parameters:
    ///   - length: the bytes that must come.
    ///   - time: the waiting in which they must come.
    init(length: Int, time: Duration) {
        self.length = length
        self.time = time
    }

    mutating func waitDidBegin(at now: ContinuousClock.Instant) { waitStart = now }

    mutating func waitDidEnd(with count: Int, at now: ContinuousClock.Instant) {
        if let waitStart { waited += now - waitStart }
        waitStart = nil
        received += count
        if received >= length { (received, waited) = (0, .zero) }
    }

    /// The waiting that is left for the bytes; zero or less if they are late.
    func timeLeft(at now: ContinuousClock.Instant) -> Duration {
        time - waited - (waitStart.map { now - $0 } ?? .zero)
    }
}
