import HTTPTypes
import Metrics
import Testing

@testable import CatalogServer

/// `GET /metrics`.
struct MetricsTests {
    /// A line of the format: `name{label="value"} 1.5`.
    private struct Sample: Hashable {
        var series: String
        var value: Double

        init?(_ line: Substring) {
            let pattern = /([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\})?) (\S+)/
            guard let match = line.wholeMatch(of: pattern), let value = Double(match.2) else { return nil }
            series = String(match.1)
            self.value = value
        }
    }

    /// The samples of a text, each line of which must be well formed.
    private func samples(_ text: String) throws -> [String: Double] {
        var samples: [String: Double] = [:]
        var types: [String: String] = [:]
        for line in text.split(separator: "\n") {
            if let type = line.wholeMatch(of: /# TYPE (\S+) (counter|gauge|histogram)/) {
                #expect(types.updateValue(String(type.2), forKey: String(type.1)) == nil, "\(line)")
                continue
            }
            let sample = try #require(Sample(line), "\(line)")
            #expect(samples.updateValue(sample.value, forKey: sample.series) == nil, "\(line)")
            let name = sample.series.prefix { $0 != "{" }
            let family = types[String(name)] ?? types[String(name).replacing(/_(bucket|sum|count)$/, with: "")]
            #expect(family != nil, "\(line)")
        }
        return samples
    }

    @Test func areWellFormedAndGrow() async throws {
        try await TestServer.run(stanzas: stanzas(0..<3)) { server async throws in
            _ = try await server.get("/packages")
            let response = try await server.get("/metrics")
            #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            let before = try samples(response.text)
            _ = try await server.get("/packages")
            _ = try await server.get("/packages/no")
            let after = try samples(try await server.get("/metrics").text)
            let requests =
                #"http_server_requests_total{http_route="/packages",http_request_method="GET","#
                + #"http_response_status_code="200"}"#
            #expect(before[requests] == 1)
            #expect(after[requests] == 2)
            for (series, value) in before where series.contains(/_total|_bucket|_seconds_(count|sum)/) {
                #expect(try #require(after[series], "\(series)") >= value, "\(series)")
            }
            #expect(after.keys.contains { $0.hasPrefix("db_client_connection_wait_time_seconds_bucket{") })
            #expect(after.keys.contains { $0.hasPrefix("db_client_connection_max{") })
            #expect(after.keys.contains { $0.hasPrefix("quarry_transactions_total{") })
        }
    }

    @Test func haveBucketsThatAddUp() async throws {
        try await TestServer.run { server async throws in
            for _ in 0..<5 { _ = try await server.get("/packages") }
            let lines = try await server.get("/metrics").text.split(separator: "\n")
            let buckets = lines.filter {
                $0.hasPrefix(#"http_server_request_duration_seconds_bucket{http_route="/packages""#)
            }
            let counts = buckets.compactMap { Sample($0)?.value }
            #expect(counts == counts.sorted())
            #expect(counts.last == 5)
            #expect(buckets.last?.contains(#"le="+Inf""#) == true)
        }
    }

    @Test func haveNoLabelsThatClientsMakeUp() async throws {
        try await TestServer.run { server async throws in
            _ = try await server.get("/packages/none")
            _ = try await server.get("/none")
            _ = try await server.route("/none", HTTPRequest.Method("BREW")!)
            let before = try samples(try await server.get("/metrics").text)
            for number in 0..<100 {
                _ = try await server.get("/packages/none\(number)?q=\(number)")
                _ = try await server.get("/none/\(number)")
                _ = try await server.route("/none", HTTPRequest.Method("BREW\(number)")!)
            }
            let after = try samples(try await server.get("/metrics").text)
            let new = Set(after.keys).subtracting(before.keys).filter { $0.contains("http_") }
            #expect(new.allSatisfy { $0.contains(#"http_route="/metrics""#) }, "\(new)")
        }
    }

    @Test func haveNamesAndLabelsOfPrometheus() throws {
        let registry = PrometheusRegistry()
        Counter(label: "1.a-b/c", dimensions: [("k.é", "a\"b\\c\nd")], factory: registry).increment(by: 3)
        FloatingPointCounter(label: "x.total", factory: registry).increment(by: 0.5)
        Meter(label: "gauge", factory: registry).set(-1.25)
        Recorder(label: "rows", dimensions: [], aggregate: true, factory: registry).record(3)
        Recorder(label: "rows", dimensions: [], aggregate: false, factory: registry).record(2)
        #expect(
            registry.text == """
                # TYPE _1_a_b_c_total counter
                _1_a_b_c_total{k__="a\\"b\\\\c\\nd"} 3
                # TYPE gauge gauge
                gauge -1.25
                # TYPE rows histogram
                rows_bucket{le="0"} 0
                rows_bucket{le="1"} 0
                rows_bucket{le="2"} 0
                rows_bucket{le="5"} 1
                rows_bucket{le="10"} 1
                rows_bucket{le="20"} 1
                rows_bucket{le="50"} 1
                rows_bucket{le="100"} 1
                rows_bucket{le="1000"} 1
                rows_bucket{le="10000"} 1
                rows_bucket{le="+Inf"} 1
                rows_sum 3
                rows_count 1
                # TYPE rows_gauge gauge
                rows_gauge 2
                # TYPE x_total counter
                x_total 0.5

                """)
    }
}
