/// Rectangles whose areas are in proportion to values, and which fill a larger one.
///
/// A squarified treemap: each row of rectangles takes further values as long as that brings its worst rectangle closer
/// to a square. Bruls, Huizing, van Wijk, <https://doi.org/10.1007/978-3-7091-6783-0_4>.
struct Treemap: Sendable {
    struct Rectangle: Equatable, Sendable {
        var x, y, width, height: Double
    }

    let width, height: Double

    /// The rectangles of values above 0, which descend.
    func rectangles(for values: [Double]) -> [Rectangle] {
        let total = values.reduce(0, +)
        guard total > 0 else { return [] }
        var areas = values.map { $0 / total * width * height }[...]
        var free = Rectangle(x: 0, y: 0, width: width, height: height)
        var rectangles: [Rectangle] = []
        while !areas.isEmpty {
            let side = min(free.width, free.height)
            var count = 1
            while count < areas.count,
                Self.worstRatio(areas.prefix(count + 1), side: side) <= Self.worstRatio(areas.prefix(count), side: side)
            {
                count += 1
            }
            rectangles += Self.place(areas.prefix(count), in: &free)
            areas = areas.dropFirst(count)
        }
        return rectangles
    }

    /// The largest ratio of length to breadth in a row of areas along a side.
    private static func worstRatio(_ areas: ArraySlice<Double>, side: Double) -> Double {
        let sum = areas.reduce(0, +)
        guard sum > 0, side > 0, let largest = areas.max(), let smallest = areas.min(), smallest > 0 else {
            return .infinity
        }
        return max(side * side * largest / (sum * sum), sum * sum / (side * side * smallest))
    }

    /// Places a row along the shorter side, and takes its space away.
    private static func place(_ areas: ArraySlice<Double>, in free: inout Rectangle) -> [Rectangle] {
        let isColumn = free.width >= free.height
        let side = isColumn ? free.height : free.width
        let breadth = side > 0 ? areas.reduce(0, +) / side : 0
        var offset = 0.0
        let placed = areas.map { area in
            let length = breadth > 0 ? area / breadth : 0
            defer { offset += length }
            return isColumn
                ? Rectangle(x: free.x, y: free.y + offset, width: breadth, height: length)
                : Rectangle(x: free.x + offset, y: free.y, width: length, height: breadth)
        }
        if isColumn {
            free.x += breadth
            free.width = max(free.width - breadth, 0)
        } else {
            free.y += breadth
            free.height = max(free.height - breadth, 0)
        }
        return placed
    }
}
