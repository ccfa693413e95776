/// The type of a property.
enum SwiftType: String {
    case bool = "Bool"
    case int = "Int"
    case int64 = "Int64"
    case double = "Double"
    case string = "String"
    case data = "Data"
    case date = "Date"
    /// For columns with values of several kinds: a type that is generated.
    case any = "AnyDatabaseValue"

    /// The type that holds all values of a column.
    ///
    /// - parameter isKey: whether the column is part of a primary or foreign key.
    init(of column: SchemaColumn, isKey: Bool, dates: Bool) {
        let contents = column.contents
        let integer: SwiftType = isKey ? .int64 : .int
        // The declared type, if the values agree.
        switch column.declared {
        case .boolean where contents.only(integers: true) && contents.isBoolean: self = .bool
        case .date where dates && contents.only(texts: true) && contents.isDates: self = .date
        case .integer where contents.only(integers: true): self = integer
        case .text where contents.only(texts: true): self = .string
        case .blob where contents.only(blobs: true): self = .data
        case .real where contents.only(integers: true, reals: true) && contents.isExactAsDouble: self = .double
        default:
            // The type of the values.
            if contents.isEmpty {
                self = column.declared == .date ? .string : .any
            } else if contents.only(integers: true) {
                self = integer
            } else if contents.only(integers: true, reals: true), contents.isExactAsDouble {
                self = .double
            } else if contents.only(texts: true) {
                self = .string
            } else if contents.only(blobs: true) {
                self = .data
            } else {
                self = .any
            }
        }
    }
}

extension SchemaColumn {
    enum DeclaredType {
        case integer
        case real
        case text
        case blob
        case boolean
        case date
        case other
    }

    /// The Swift type of a declared type. Beyond SQLite's rules
    /// (<https://www.sqlite.org/datatype3.html#determination_of_column_affinity>) it knows common names.
    var declared: DeclaredType {
        let name = type.uppercased()
        func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
        if isDeclaredAsDate { return .date }
        if has("BOOL") { return .boolean }
        if has("INT") { return .integer }
        if has("CHAR", "CLOB", "TEXT", "STRING", "JSON", "UUID") || name == "DATE" || name == "TIME" { return .text }
        if has("BLOB") { return .blob }
        if has("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL", "NUMBER") { return .real }
        return .other
    }

    var isDeclaredAsDate: Bool {
        let name = type.uppercased()
        return name.contains("DATETIME") || name.contains("TIMESTAMP")
    }
}
