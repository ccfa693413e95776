public import Quarry
import QuarryCore
import QuarryTestSupport

/// The SQL that connections run, as SQLite's trace reports it.
public final class SQLTrace: Sendable {
    private let lines = Recorded<[String]>([])
    private let statements = Recorded<[String: Set<Int>]>([:])

    public init() {}

    /// Adds the trace to each connection that is opened with a configuration.
    public func install(in configuration: inout Configuration) {
        configuration.prepareDatabase { [lines, statements] db in
            _ = db.hooks.onTrace(.statements) { event in
                guard case .statement(let statement, let text) = event else { return }
                let sql = String(cString: text)
                lines.update { $0.append(sql) }
                _ = statements.update { $0[sql, default: []].insert(Int(bitPattern: statement)) }
            }
        }
    }

    /// The statements that have run since the last call.
    public func take() -> [String] {
        lines.update { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// How many prepared statements have run that text.
    public func statementCount(_ sql: String) -> Int { statements.value[sql]?.count ?? 0 }
}
