import Foundation
import Quarry

/// A reader of untrusted text or bytes.
public enum FuzzTarget: String, CaseIterable, Sendable {
    case dates
    case components
    case uuids
    case decimals
    case statements
    case interpolation
    case patterns
    case salvage
    case wire
    case sessions

    /// Throws a `Violation` if what must hold for any bytes doesn't hold for these. It never traps.
    public func check(_ bytes: [UInt8]) throws {
        switch self {
        case .dates: try TextParsers.checkDate(bytes)
        case .components: try TextParsers.checkComponents(bytes)
        case .uuids: try TextParsers.checkUUID(bytes)
        case .decimals: try TextParsers.checkDecimal(bytes)
        case .statements: try Statements.check(bytes)
        case .interpolation: try Interpolation.check(bytes)
        case .patterns: try Patterns.check(bytes)
        case .salvage: try Salvaging.check(bytes)
        case .wire: try WireMessages.check(bytes)
        case .sessions: try Sessions.check(bytes)
        }
    }

    /// Inputs to begin with.
    public var seeds: [[UInt8]] {
        switch self {
        case .salvage: Salvaging.seeds
        case .wire: WireMessages.seeds
        case .sessions: Sessions.seeds
        default: textSeeds.map { Array($0.utf8) }
        }
    }

    private var textSeeds: [String] {
        switch self {
        case .salvage, .wire, .sessions: []
        case .dates, .components:
            [
                "2024-02-29", "2024-02-29 12:30", "2024-02-29T12:30:59", "2024-02-29 12:30:59.123",
                "2024-02-29 12:30:59.123456789Z", "0000-01-01 00:00:00.000+18:00", "9999-12-31 24:00-18:00", "23:59",
                "23:59:59", "23:59:59.9+02:00",
            ]
        case .uuids:
            ["E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "00000000-0000-0000-0000-000000000000", "0123456789abcdef"]
        case .decimals:
            [
                "0", "-12.50", "+.5", "1e-7", "1E+127", "1e-128", "99999999999999999999999999999999999999", "-0.0",
                "340282366920938463463374607431768211455e127",
            ]
        case .statements:
            [
                "SELECT 1; SELECT 2", " ; -- comment\n/* and; */ SELECT ';' ; ", "SELECT \"a;b\", [c;d], `e;f`, x'00'",
                "CREATE TABLE t (a); INSERT INTO t VALUES (1) RETURNING a; DROP TABLE t",
                """
                CREATE TABLE t (a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT CASE WHEN 1 THEN 2 END; \
                END; INSERT INTO t VALUES (1)
                """,
                "BEGIN; SAVEPOINT a; RELEASE a; ROLLBACK TRANSACTION TO a; COMMIT", "SELECT 1; garbage",
                "EXPLAIN QUERY PLAN SELECT ?, :a, @b, $c::d(e), ?12", "SELECT 1 /* open", "SELECT 1/* ; ",
                "SELECT 'open; SELECT 2",
                // A vertical tab is space behind other space.
                "\r\u{b}\rBEGIN; \u{b}SELECT 1;\n\u{b}COMMIT \u{b}",
            ]
        case .interpolation:
            [
                "", "\u{1}name\u{0}\u{2}O'Brien\u{0}", "\u{3}12345678\u{4}12345678",
                "\u{5}ab\u{0}\u{6}\u{3}abc\u{7}x\"y\u{0}",
            ]
        case .patterns:
            [
                "sqlite AND (\"full text\" OR NEAR(a b, 3)) NOT ^x + y*", "a : {a b} : c - a", "日本語の全文検索 SQLite",
                "ｶﾞｷﾞ㍿½ﬁ①② か\u{3099}e\u{301}\u{E0100}", "한국어 \u{1112}\u{1161}\u{11AB} İıßΣς",
                "it's \"a\"b\0c😀\u{200D}\u{AD}",
            ]
        }
    }
}

/// A violated property.
public struct Violation: Error, CustomStringConvertible {
    /// The property and the input.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Throws unless two values are equal.
func expectEqual<T: Equatable>(_ lhs: T, _ rhs: T, _ what: String, _ input: [UInt8]) throws {
    if lhs != rhs {
        throw Violation(
            "\(what): \(lhs) is not \(rhs), for \(String(reflecting: String(decoding: input, as: UTF8.self)))")
    }
}
