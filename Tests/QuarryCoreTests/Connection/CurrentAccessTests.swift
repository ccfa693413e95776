import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("The state of the current access")
struct CurrentAccessTests {
    /// A scope that has begun inside an access; the innermost one is last.
    private enum Frame {
        case ignoringCancellation(shields: Bool, endsShield: Bool)
        case readOnly
        case sealed
    }

    private static func mistake(_ number: Int) -> DatabaseError { DatabaseError(message: "mistake \(number)") }

    private static func message(_ error: (any Error)?) -> String? { (error as? DatabaseError)?.message }

    @Test func randomAccessesAgreeWithAModel() {
        var random = SeededGenerator()
        print("CurrentAccessTests.randomAccesses seed: \(random.seed)")
        var access = CurrentAccess()
        var isWatched = false
        var mistakes = 0
        for number in 1...5_000 {
            let left = Bool.random(using: &random) ? Self.mistake(0) : nil
            access.begin(error: left)
            var error = left?.message
            #expect(access.number == number, "seed \(random.seed)")
            #expect(!access.isCancelled, "seed \(random.seed)")

            let token = Bool.random(using: &random) ? AccessToken() : nil
            if let token {
                #expect(access.follow(.token(token)) == !isWatched, "seed \(random.seed)")
                isWatched = true
            }

            var frames: [Frame] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                switch Int.random(in: 0..<7, using: &random) {
                case 0:
                    let shields = Bool.random(using: &random)
                    let isShielded = frames.contains {
                        if case .ignoringCancellation(_, endsShield: true) = $0 { true } else { false }
                    }
                    let shielded = access.ignoreCancellation(shields: shields)
                    #expect(shielded === (shields && !isShielded ? token : nil), "seed \(random.seed)")
                    frames.append(.ignoringCancellation(shields: shields, endsShield: shielded != nil))
                case 1:
                    access.beginReadOnly()
                    frames.append(.readOnly)
                case 2:
                    access.seal()
                    frames.append(.sealed)
                case 3:
                    token?.cancel()
                case 4:
                    mistakes += 1
                    #expect(access.note(Self.mistake(mistakes)) == (error == nil), "seed \(random.seed)")
                    error = error ?? "mistake \(mistakes)"
                case 5:
                    #expect(Self.message(access.takeError()) == error, "seed \(random.seed)")
                    error = nil
                default:
                    end(frames.popLast(), &access)
                }
                check(access, token, frames, error, random.seed)
            }
            while let frame = frames.popLast() {
                end(frame, &access)
                check(access, token, frames, error, random.seed)
            }
            #expect(access.unfollow() === token, "seed \(random.seed)")
            #expect(access.unfollow() == nil, "seed \(random.seed)")
            #expect(!access.isCancelled, "seed \(random.seed)")
            #expect(Self.message(access.takeError()) == error, "seed \(random.seed)")
        }
    }

    private func end(_ frame: Frame?, _ access: inout CurrentAccess) {
        switch frame {
        case .ignoringCancellation(_, let endsShield): access.heedCancellation(endsShield: endsShield)
        case .readOnly: access.endReadOnly()
        case .sealed: access.unseal()
        case nil: break
        }
    }

    private func check(
        _ access: CurrentAccess, _ token: AccessToken?, _ frames: [Frame], _ error: String?, _ seed: UInt64
    ) {
        var ignores = false
        var isReadOnly = false
        var isSealed = false
        for frame in frames {
            switch frame {
            case .ignoringCancellation: ignores = true
            case .readOnly: isReadOnly = true
            case .sealed: isSealed = true
            }
        }
        #expect(access.ignoresCancellation == ignores, "seed \(seed)")
        #expect(access.isCancelled == (token?.isCancelled ?? false && !ignores), "seed \(seed)")
        #expect(access.isSealed == isSealed, "seed \(seed)")
        // A sealed access is read-only, too.
        #expect(access.isReadOnly == (isReadOnly || isSealed), "seed \(seed)")
        #expect(Self.message(access.error) == error, "seed \(seed)")
    }

    @Test func accessIsCancelledWithTheTaskItFollows() async {
        await Task {
            var access = CurrentAccess()
            access.begin(error: nil)
            let mustWatch = access.follow(.task)
            #expect(mustWatch)
            #expect(!access.isCancelled)
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(access.isCancelled)
            #expect(access.ignoreCancellation(shields: true) == nil)
            #expect(!access.isCancelled)
            access.heedCancellation(endsShield: false)
            #expect(access.isCancelled)
            #expect(access.unfollow() == nil)
            #expect(!access.isCancelled)
        }.value
    }
}
