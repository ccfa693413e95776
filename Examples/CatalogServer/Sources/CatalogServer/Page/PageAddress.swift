/// The address of a page: the search, and the package that is open beside its results.
struct PageAddress: Equatable, Sendable {
    var query: String?
    var section: String?
    /// From 1.
    var page = 1
    var package: String?

    /// The page's path with its query: `/?q=database&section=libs`.
    var path: String { path(of: "/") }

    /// The same packages as JSON.
    var jsonPath: String {
        var address = self
        address.package = nil
        return address.path(of: "/packages")
    }

    /// Searches anew, from the first page.
    func with(section: String?) -> PageAddress {
        PageAddress(query: query, section: section, package: package)
    }

    func with(page: Int) -> PageAddress {
        var address = self
        address.page = page
        return address
    }

    func with(package: String?) -> PageAddress {
        var address = self
        address.package = package
        return address
    }

    private func path(of route: String) -> String {
        var parameters: [String] = []
        if let query { parameters.append("q=" + query.percentEncoded) }
        if let section { parameters.append("section=" + section.percentEncoded) }
        if page > 1 { parameters.append("page=\(page)") }
        if let package { parameters.append("package=" + package.percentEncoded) }
        return parameters.isEmpty ? route : route + "?" + parameters.joined(separator: "&")
    }
}

extension String {
    /// The text with all bytes encoded except for the unreserved ones:
    /// <https://www.rfc-editor.org/rfc/rfc3986#section-2.3>.
    fileprivate var percentEncoded: String {
        var encoded = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
