/// The HTML page, and the files beside it.
enum CatalogPage {
    /// A file that the page refers to. It is part of the program, so that serving it can't fail.
    struct File: Sendable {
        var path, contentType: String
        var bytes: [UInt8]
    }

    /// A page runs the server's own script and style alone, whatever the texts of packages say:
    /// <https://www.w3.org/TR/CSP3/>.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    static let files = [
        File(path: "/catalog.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.catalog_css),
        File(path: "/catalog.js", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.catalog_js),
        File(path: "/catalog.svg", contentType: "image/svg+xml", bytes: PackageResources.catalog_svg),
    ]

    /// The HTML of the page.
    static func render(_ content: PageContent) -> String { PageTemplates.shared.render(PageModel(content)) }
}

extension CatalogPage.File {
    /// Changes with the bytes: <https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3>. The hash is FNV-1a, because
    /// Swift's own differs from run to run.
    var entityTag: String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return "\"\(String(hash, radix: 16))\""
    }
}
