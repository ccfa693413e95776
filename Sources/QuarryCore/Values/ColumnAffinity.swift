/// The type to which a column converts values:
/// <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>.
package enum ColumnAffinity {
    case integer
    case text
    case blob
    case real
    case numeric

    package init(declaredType: String) {
        let type = declaredType.uppercased()
        self =
            if type.contains("INT") {
                .integer
            } else if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") {
                .text
            } else if type.contains("BLOB") || type.isEmpty || type == "ANY" {
                .blob
            } else if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") {
                .real
            } else {
                .numeric
            }
    }
}
