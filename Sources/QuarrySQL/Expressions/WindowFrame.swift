/// The frame of a window function, which is a range of rows around the current one: `ROWS BETWEEN 3 PRECEDING AND
/// CURRENT ROW`.
///
/// ```swift
/// let frame = WindowFrame.rows(from: .preceding(3), to: .currentRow)
/// Day.annotated(with: average(Column("sales")).over(orderBy: Column("date"), frame: frame).forKey("trend"))
/// ```
/// ```sql
/// SELECT *, AVG("sales") OVER (ORDER BY "date" ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS "trend" FROM "day"
/// ```
///
/// Without a frame, a window function sees the rows from the partition's first to the last one that is equal in the
/// order. See <https://www.sqlite.org/windowfunctions.html#frame_specifications>.
public struct WindowFrame: Hashable, Sendable {
    /// The start or end of a frame.
    public struct Bound: Hashable, Sendable {
        fileprivate let text: String

        /// The partition's first row: `UNBOUNDED PRECEDING`
        public static let unboundedPreceding = Bound(text: "UNBOUNDED PRECEDING")
        /// The row itself, and with `range` and `groups` the rows equal to it in the order: `CURRENT ROW`
        public static let currentRow = Bound(text: "CURRENT ROW")
        /// The partition's last row: `UNBOUNDED FOLLOWING`
        public static let unboundedFollowing = Bound(text: "UNBOUNDED FOLLOWING")

        /// A number of rows, groups, or units of the order before: `3 PRECEDING`. It can't be negative.
        public static func preceding(_ distance: Int) -> Bound { Bound(text: "\(distance) PRECEDING") }

        /// A number of units of the order before, with `range` only: `0.5 PRECEDING`. It can't be negative.
        public static func preceding(_ distance: Double) -> Bound { Bound(text: "\(literal(distance)) PRECEDING") }

        /// A number of rows, groups, or units of the order after: `3 FOLLOWING`. It can't be negative.
        public static func following(_ distance: Int) -> Bound { Bound(text: "\(distance) FOLLOWING") }

        /// A number of units of the order after, with `range` only: `0.5 FOLLOWING`. It can't be negative.
        public static func following(_ distance: Double) -> Bound { Bound(text: "\(literal(distance)) FOLLOWING") }

        /// The SQL of a distance. SQLite has no literal for infinities, and refuses NULL, as it refuses negative
        /// numbers.
        private static func literal(_ distance: Double) -> String {
            distance.isNaN ? "NULL" : distance.isInfinite ? (distance < 0 ? "-9e999" : "9e999") : "\(distance)"
        }
    }

    /// The rows of the frame that are left out.
    public enum Exclusion: String, Hashable, Sendable {
        /// None.
        case noOthers = "NO OTHERS"
        /// The row itself.
        case currentRow = "CURRENT ROW"
        /// The row itself, and the rows equal to it in the order.
        case group = "GROUP"
        /// The rows equal to it in the order, but not the row itself.
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

    /// A frame by distances in the order, which must have a single term: `RANGE BETWEEN … AND …`
    public static func range(
        from start: Bound = .unboundedPreceding, to end: Bound = .currentRow, excluding exclusion: Exclusion? = nil
    ) -> WindowFrame {
        WindowFrame("RANGE", start, end, exclusion)
    }
}
