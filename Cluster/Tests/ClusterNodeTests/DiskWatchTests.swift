import ClusterNode
import Testing

/// A full disk, as a node sees it.
@Suite("The watch of a node's disk") struct DiskWatchTests {
    private let full: UInt64 = 1 << 20
    private let nearlyFull: UInt64 = 12 << 20
    private let enough: UInt64 = 1 << 30

    @Test func theLeadershipIsHandedOverOnce() {
        var watch = DiskWatch()
        #expect(watch.look(freeBytes: enough, hasSegment: true) == .none)
        #expect(watch.look(freeBytes: nearlyFull, hasSegment: true) == .handOver)
        #expect(watch.look(freeBytes: nearlyFull, hasSegment: true) == .none)
        // The disk has had space in between.
        #expect(watch.look(freeBytes: enough, hasSegment: true) == .none)
        #expect(watch.look(freeBytes: full, hasSegment: true) == .handOver)
        #expect(watch.look(freeBytes: full, hasSegment: true) == .none)
    }

    @Test func aLogThatIsGivenUpEndsTheNode() {
        var watch = DiskWatch()
        #expect(watch.look(freeBytes: full, hasSegment: true) == .handOver)
        #expect(watch.look(freeBytes: full, hasSegment: false) == .none)
        #expect(watch.look(freeBytes: full, hasSegment: false) == .none)
        #expect(watch.look(freeBytes: full, hasSegment: false) == .end)
    }

    /// The files don't always tell that a log has ended.
    @Test func aNodeStartsAgainOnceThereIsSpace() {
        var watch = DiskWatch()
        #expect(watch.look(freeBytes: full, hasSegment: true) == .handOver)
        #expect(watch.look(freeBytes: nearlyFull, hasSegment: true) == .none)
        for _ in 0..<3 { #expect(watch.look(freeBytes: enough, hasSegment: true) == .endUnlessLeading) }
    }

    @Test func aLogThatGoesOnEndsNothing() {
        var watch = DiskWatch()
        _ = watch.look(freeBytes: full, hasSegment: true)
        for _ in 0..<10 {
            #expect(watch.look(freeBytes: full, hasSegment: false) == .none)
            #expect(watch.look(freeBytes: full, hasSegment: false) == .none)
            #expect(watch.look(freeBytes: full, hasSegment: true) == .none)
        }
    }

    /// A node that has started has no file until it receives an entry.
    @Test func aNodeWithoutEntriesGoesOn() {
        var watch = DiskWatch()
        _ = watch.look(freeBytes: full, hasSegment: false)
        for _ in 0..<10 { #expect(watch.look(freeBytes: full, hasSegment: false) == .none) }
    }

    /// A snapshot may take the place of all files for a while.
    @Test func aNodeWithSpaceGoesOn() {
        var watch = DiskWatch()
        _ = watch.look(freeBytes: enough, hasSegment: true)
        for _ in 0..<10 { #expect(watch.look(freeBytes: enough, hasSegment: false) == .none) }
    }
}
