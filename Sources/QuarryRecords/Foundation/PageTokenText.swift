import Foundation

// Base64 for URLs: https://www.rfc-editor.org/rfc/rfc4648#section-5

extension [UInt8] {
    /// The bytes as letters, digits, `-` and `_`.
    var pageTokenText: String {
        Data(self).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The bytes of a text; nil for a text that isn't that of any bytes.
    init?(pageTokenText text: String) {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") })
        else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        guard let data = Data(base64Encoded: base64) else { return nil }
        self.init(data)
    }
}
