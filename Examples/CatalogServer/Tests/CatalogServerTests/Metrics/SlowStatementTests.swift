import HTTPTypes
import Logging
import Testing

@testable import CatalogServer

/// The log of slow statements.
struct SlowStatementTests {
    private static func log(
        slow: Duration, _ requests: [String]
    ) async throws -> [Logger.Metadata] {
        let lines = ReadableLog.Lines()
        var limits = ServerLimits()
        limits.slowStatement = slow
        try await TestServer.run(limits: limits, stanzas: stanzas(0..<3), logger: .readable(lines)) {
            server async throws in
            for request in requests { #expect(try await server.get(request).status == .ok) }
        }
        return lines.metadata("warning: Slow statement")
    }

    @Test func hasTheirPlan() async throws {
        let entries = try await Self.log(slow: .zero, ["/packages?q=package&section=libs"])
        let counts = entries.filter { "\($0["db.query.text"] ?? "")".hasPrefix("SELECT count(*) FROM package_search") }
        let plan = try #require(counts.first?["quarry.query.plan"])
        #expect(counts.count == 1 && "\(plan)".contains("SCAN package_search VIRTUAL TABLE"), "\(entries)")
        #expect(counts.first?["quarry.access.label"] == "list packages")
    }

    @Test func hasNoFastOnes() async throws {
        #expect(ServerLimits().slowStatement == .milliseconds(200))
        let entries = try await Self.log(slow: .seconds(3600), ["/packages?q=package", "/packages/p1", "/statistics"])
        #expect(entries.isEmpty, "\(entries)")
    }
}
