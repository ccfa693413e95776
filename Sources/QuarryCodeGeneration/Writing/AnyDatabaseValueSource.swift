/// The text of the type for columns with values of several kinds.
enum AnyDatabaseValueSource {
    static func write(_ access: GenerationOptions.Access, to source: inout SourceText) {
        let prefix = access == .internal ? "" : access.rawValue + " "
        source.line(
            """
            /// A value of any kind, for columns that declare no type, or have values of several.
            \(prefix)struct AnyDatabaseValue: Codable, Hashable, Sendable, DatabaseValueConvertible {
                \(prefix)var databaseValue: DatabaseValue

                \(prefix)init(_ value: some DatabaseValueConvertible) { databaseValue = value.databaseValue }

                \(prefix)static func fromDatabaseValue(_ dbValue: DatabaseValue) -> AnyDatabaseValue? {
                    AnyDatabaseValue(dbValue)
                }

                /// Reads null, a number or text.
                \(prefix)init(from decoder: any Decoder) throws {
                    let container = try decoder.singleValueContainer()
                    if container.decodeNil() {
                        databaseValue = .null
                    } else if let integer = try? container.decode(Int64.self) {
                        databaseValue = integer.databaseValue
                    } else if let number = try? container.decode(Double.self) {
                        databaseValue = number.databaseValue
                    } else {
                        databaseValue = try container.decode(String.self).databaseValue
                    }
                }

                /// Writes null, a number or text; blobs as base 64.
                \(prefix)func encode(to encoder: any Encoder) throws {
                    var container = encoder.singleValueContainer()
                    switch databaseValue.storage {
                    case .null: try container.encodeNil()
                    case .int64(let integer): try container.encode(integer)
                    case .double(let number): try container.encode(number)
                    case .string(let text): try container.encode(text)
                    case .blob(let bytes): try container.encode(Data(bytes).base64EncodedString())
                    }
                }
            }
            """)
    }
}
