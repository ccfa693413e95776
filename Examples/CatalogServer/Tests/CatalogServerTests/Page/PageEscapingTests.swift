import Testing

@testable import CatalogServer

struct PageEscapingTests {
    @Test(arguments: [
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        (#"say "hi" and 'bye'"#, "say &quot;hi&quot; and &#39;bye&#39;"),
        // One character each, of two scalars.
        ("\"\u{301}", "&quot;\u{301}"), ("<\u{301}", "&lt;\u{301}"), ("'\u{20D2}", "&#39;\u{20D2}"),
        ("&amp;", "&amp;amp;"), ("\0", "\u{FFFD}"), ("Ü ö 漢 🙂", "Ü ö 漢 🙂"), ("", ""),
    ])
    func escapesEachScalar(text: String, escaped: String) {
        #expect(Array(PageEscaping().escapeText(text).unicodeScalars) == Array(escaped.unicodeScalars))
    }

    /// Texts of packages and of requests that try to become markup.
    static let hostileTexts = [
        "\"><script>alert(1)</script>", "' onmouseover='alert(1)", "\"\u{301} onfocus=alert(1) autofocus x=\"",
        "<img src=x onerror=alert(1)>", "<\u{301}svg onload=alert(1)>", "</title><script src=//evil.example></script>",
        "</textarea></style></script><!--", "{{title}}", "{{{packageSummary}}}", "{{#rows}}{{>page}}{{/rows}}",
        "javascript:alert(1)", "&quot; onclick=alert(1)", "\0<\0b>", "-->", "]]>", "\u{202E}gpj.exe",
    ]

    @Test(arguments: hostileTexts)
    func noTextAddsATagOrAnAttribute(text: String) {
        #expect(Self.structure(text, "https://\(text)") == Self.structure("nano", "https://nano"))
    }

    /// The tags and attributes of the pages that show a text.
    private static func structure(_ text: String, _ homepage: String) -> [String] {
        var statistics = CatalogStatistics.sample
        statistics.sections = [.init(section: text, packageCount: 2, installedSize: 1)]
        statistics.mostDependedOn = [.init(name: text, dependentCount: 1)]
        statistics.largestPackages = [.init(name: text, installedSize: 1)]
        let request = PageRequest(query: text, section: text, package: text)
        let pages = [
            PageContent(
                request: request, packages: .sample(text, query: text), statistics: statistics, details: .sample(text)),
            PageContent(
                request: request, packages: .sample(text, query: text), statistics: statistics,
                details: .sample("nano", homepage: "http://a.example/\"\u{301}" + text)),
            PageContent(request: request, packages: .unmatched, statistics: statistics),
            PageContent(request: PageRequest(query: text), packages: .sample(text), statistics: statistics),
            PageContent(request: request, statistics: statistics, problem: text),
        ]
        // A homepage is a link or a text, and a label fits into its tile or doesn't: both are told apart below.
        return pages.flatMap { HTMLOutline(CatalogPage.render($0)).structure.filter { !optional.contains($0) } }
    }

    private static let optional: Set = ["a href rel", "/a", "text x y", "text class x y", "/text"]

    @Test(arguments: hostileTexts)
    func noTextRunsAScript(text: String) {
        let content = PageContent(
            request: PageRequest(query: text, section: text, package: text), packages: .sample(text, query: text),
            statistics: .sample, details: .sample(text))
        Self.expectNoScript(HTMLOutline(CatalogPage.render(content)))
    }

    static func expectNoScript(_ outline: HTMLOutline) {
        for tag in outline.tags {
            for attribute in tag.attributes {
                #expect(!attribute.name.lowercased().hasPrefix("on"), "\(tag)")
                #expect(attribute.name != "style", "\(tag)")
                if ["href", "src", "action"].contains(attribute.name) {
                    let address = attribute.value ?? ""
                    let isLocal = address.hasPrefix("/") && !address.hasPrefix("//") || address.hasPrefix("#")
                    #expect(isLocal || address.hasPrefix("https://") || address.hasPrefix("http://"), "\(tag)")
                }
            }
        }
        let scripts = outline.tags.filter { $0.name == "script" }
        #expect(scripts.map { $0.attributes.first { $0.name == "src" }?.value } == ["/catalog.js"])
        #expect(!outline.tags.contains { $0.name == "style" || $0.name == "iframe" || $0.name == "object" })
    }

    @Test(arguments: [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//evil.example", "ftp://a.b", "",
    ])
    func homepagesThatAreNotOfTheWebAreNoLinks(homepage: String) {
        let content = PageContent(
            request: PageRequest(package: "nano"), packages: .sample(), statistics: .sample,
            details: .sample(homepage: homepage))
        let links = HTMLOutline(CatalogPage.render(content)).tags.filter { tag in
            tag.attributes.contains { $0.name == "rel" && $0.value?.contains("external") == true }
        }
        #expect(links.isEmpty)
    }

    @Test func homepagesOfTheWebAreLinks() {
        let content = PageContent(
            request: PageRequest(package: "nano"), packages: .sample(), statistics: .sample,
            details: .sample(homepage: "https://nano-editor.org/"))
        let html = CatalogPage.render(content)
        #expect(html.contains(#"<a href="https://nano-editor.org/" rel="noreferrer noopener external">"#))
    }
}
