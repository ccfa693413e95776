/// The rows around a row that a window function sees: `ROWS BETWEEN 3 PRECEDING AND CURRENT ROW`.
///
/// ```swift
/// let frame = WindowFrame.rows(from: .preceding(3), to: .currentRow)
/// Day.annotated(with: average(Column("sales")).over(orderBy: Column("date"), frame: frame).forKey("trend"))
/// ```
/// ```sql
/// SELECT *, AVG("sales") OVER (ORDER BY "date" ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS "trend" FROM "day"
/// ```
///
/// Without a frame, a window function sees the rows from the first of the partition to the last that is equal in the
/// order. See <https://www.sqlite.org/windowfunctions.html#frame_specifications>.
public struct WindowFrame: Hashable, Sendable {
    /// Where a frame begins or ends.
    public struct Bound: Hashable, Sendable {
        fileprivate let text: String

        /// The partition's first row: `UNBOUNDED PRECEDING`
        public static let unboundedPreceding = Bound(text: "UNBOUNDED PRECEDING")
        /// The row itself, and with `range` and `groups` those that are equal in the order: `CURRENT ROW`
        public static let currentRow = Bound(text: "CURRENT ROW")
        /// The partition's last row: `UNBOUNDED FOLLOWING`
        public static let unboundedFollowing = Bound(text: "UNBOUNDED FOLLOWING")

        /// Some rows, groups, or units of the order before: `3 PRECEDING`. It can't be negative.
        public static func preceding(_ distance: Int) -> Bound { Bound(text: "\(distance) PRECEDING") }

        /// Some units of the order before, with `range` only: `0.5 PRECEDING`. It can't be negative.
        public static func preceding(_ distance: Double) -> Bound { Bound(text: "\(literal(distance)) PRECEDING") }

        /// Some rows, groups, or units of the order after: `3 FOLLOWING`. It can't be negative.
        public static func following(_ distance: Int) -> Bound { Bound(text: "\(distance) FOLLOWING") }

        /// Some units of the order after, with `range` only: `0.5 FOLLOWING`. It can't be negative.
        public static func following(_ distance: Double) -> Bound { Bound(text: "\(literal(distance)) FOLLOWING") }

        /// SQLite has no literal for the infinities, and refuses NULL as it refuses negative numbers.
        private static func literal(_ distance: Double) -> String {
            distance.isNaN ? "NULL" : distance.isInfinite ? (distance < 0 ? "-9e999" : "9e999") : "\(distance)"
        }
    }

    /// Which rows around the current one are left out.
    public enum Exclusion: String, Hashable, Sendable {
        /// None.
        case noOthers = "NO OTHERS"
        /// The row itself.
        case currentRow = "CURRENT ROW"
        /// The row itself, and those that are equal in the order.
        case group = "GROUP"
        /// Those that are equal in the order, but not the row itself.
        case ties = "TIES"
    }

    package let sql: String

    private init(_ unit: String, _ start: Bound, _ end: Bound, _ exclusion: Exclusion?) {
        sql = "\(unit) BETWEEN \(start.text) AND \(end.text)" + (exclusion.map { " EXCLUDE \($0.rawValue)" } ?? "")
    }

    /// A frame that counts rows: `ROWS BETWEEN … AND …`
    public static func rows(
        from start: Bound = .unboundedPreceding, to end: Bound = .currentRow, excluding exclusion: Exclusion? = nil
    ) -> WindowFrame {
        WindowFrame("ROWS", start, end, exclusion)
    }

    /// A frame that counts groups of rows that are equal in the order: `GROUPS BETWEEN … AND …`
    public static func groups(
        from start: Bound = .unboundedPreceding, to end: Bound = .currentRow, excluding exclusion: Exclusion? = nil
    ) -> WindowFrame {
        WindowFrame("GROUPS", start, end, exclusion)
    }

    /// A frame that goes by distances in the order, which has one term then: `RANGE BETWEEN … AND …`
    public static func range(
        from start: Bound = .unboundedPreceding, to end: Bound = .currentRow, excluding exclusion: Exclusion? = nil
    ) -> WindowFrame {
        WindowFrame("RANGE", start, end, exclusion)
    }
}
