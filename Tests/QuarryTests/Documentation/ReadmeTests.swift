import QuarryTestSupport
import Testing

@Suite struct ReadmeTests {
    @Test func theTourRuns() async throws {
        let folder = try TemporaryFolder()
        #expect(try await tour(path: folder.file("players.sqlite")) == ["Barbara: 700"])
    }
}
