/// Numbers as the page writes them.
enum PageQuantities {
    /// `63412` as `63,412`.
    static func count(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var grouped = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { grouped.append(",") }
            grouped.append(digit)
        }
        return number < 0 ? "-" + grouped : grouped
    }

    /// `1 package`, `63,412 packages`.
    static func count(_ number: Int, _ singular: String, _ plural: String) -> String {
        "\(count(number)) \(number == 1 ? singular : plural)"
    }

    /// A number of bytes with two or three digits: `940 kB`, `1.2 MB`.
    static func bytes(_ number: Int) -> String {
        guard number >= 1000 else { return "\(number) B" }
        var tenths = number / 100
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            if tenths < 100 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            if tenths < 10_000 { return "\(tenths / 10) \(unit)" }
            tenths /= 1000
        }
        return "\(count(tenths / 10)) EB"
    }
}
