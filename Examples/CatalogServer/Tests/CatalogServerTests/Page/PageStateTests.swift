import Testing

@testable import CatalogServer

/// Each state of the page, as the server renders it.
struct PageStateTests {
    private func render(
        _ request: PageRequest = PageRequest(), _ packages: PackagePage? = .sample(),
        statistics: CatalogStatistics? = .sample, details: PackageDetails? = nil, problem: String? = nil
    ) -> String {
        CatalogPage.render(
            PageContent(
                request: request, packages: packages, statistics: statistics, details: details, problem: problem))
    }

    @Test func listsPackagesBesideCharts() {
        let html = render()
        #expect(html.contains("<title>Package catalogue</title>"))
        #expect(html.contains(#"<dd id="figure-packages">3</dd>"#))
        #expect(html.contains(#"<a class="row" href="/?package=nano">"#))
        #expect(html.contains("<mark>nano</mark> nano</span>"))
        #expect(html.contains(#"<span class="row-size">2.0 kB</span>"#))
        #expect(html.contains(#"<svg class="treemap""#))
        #expect(html.contains("Packages by section") && html.contains("Most depended on"))
        #expect(html.contains(#"<option value="libs" data-key="libs">libs (2)</option>"#))
        #expect(!html.contains(#"class="pages""#))
    }

    @Test func anEmptyCatalogueTellsHowToImport() {
        let html = render(PageRequest(), .unmatched, statistics: .empty)
        #expect(html.contains("The catalogue is empty.") && html.contains("curl --data-binary @"))
        #expect(!html.contains("No package") && !html.contains("treemap"))
    }

    @Test func aSearchWithoutResultsOffersAWayOut() {
        let html = render(PageRequest(query: "xyzzy", section: "libs"), .unmatched)
        #expect(html.contains("No package in libs matches “xyzzy”."))
        #expect(html.contains(#"<a href="/?q=xyzzy">Search all sections</a>"#))
        #expect(!html.contains(#"id="rows""#))
        #expect(render(PageRequest(query: "xyzzy"), .unmatched).contains("No package matches “xyzzy”."))
        #expect(render(PageRequest(section: "old"), .unmatched).contains("No package is in the section old."))
    }

    @Test func aSectionThatIsGoneStaysChosen() {
        let html = render(PageRequest(section: "old"), .unmatched)
        #expect(html.contains(#"<option value="old" data-key="old" selected>old (0)</option>"#))
    }

    @Test func aProblemKeepsThePageUsable() {
        let html = render(PageRequest(page: 9), nil, problem: "There is no page 9: there is one page.")
        #expect(html.contains(#"role="alert">"#) && html.contains("There is no page 9: there is one page."))
        #expect(html.contains(#"<a href="/">Go to the first page</a>"#))
        #expect(html.contains(#"<form class="search""#))
    }

    @Test func aProblemOfTheDatabaseNeedsNone() {
        let html = render(PageRequest(), nil, statistics: nil, problem: "Too many requests wait for the database.")
        #expect(html.contains("Too many requests wait for the database."))
        #expect(!html.contains("figure-packages") && !html.contains("treemap") && !html.contains("empty"))
    }

    @Test func pagesLinkToTheirNeighbours() {
        let request = PageRequest(query: "a b", section: "libs", page: 2)
        let middle = render(request, .sample(page: 2, pageCount: 3))
        #expect(middle.contains(#"rel="prev" href="/?q=a%20b&amp;section=libs""#))
        #expect(middle.contains(#"rel="next" href="/?q=a%20b&amp;section=libs&amp;page=3""#))
        #expect(middle.contains("Page 2 of 3") && middle.contains(#"start="21""#))
        let last = render(PageRequest(page: 3), .sample(page: 3, pageCount: 3))
        #expect(last.contains(#"rel="prev" href="/?page=2""#) && !last.contains(#"rel="next""#))
        let first = render(PageRequest(), .sample(pageCount: 3))
        #expect(!first.contains(#"rel="prev""#) && first.contains(#"rel="next" href="/?page=2""#))
    }

    @Test func aPackageShowsItsTree() {
        let html = render(PageRequest(query: "edit", package: "nano"), .sample(query: "edit"), details: .sample())
        #expect(html.contains("<title>nano · Package catalogue</title>"))
        #expect(html.contains(#"<h2 id="package-name" tabindex="-1">nano</h2>"#))
        #expect(html.contains(#"id="close" href="/?q=edit" aria-label="Close nano""#))
        #expect(html.contains("<p>nano</p>") && html.contains("<ul><li>nano</li></ul>"))
        #expect(html.contains("3 packages in 2 levels, each at its first occurrence."))
        #expect(html.contains(#"<a href="/?q=edit&amp;package=libgcc-s1">libgcc-s1</a>"#))
        #expect(html.contains(#"<span class="absent">nanox</span> <span class="remark">not in the catalogue</span>"#))
        #expect(html.contains("<details><summary>1 more</summary>"))
        #expect(html.contains(#"href="/?q=edit&amp;package=nano" aria-current="true">"#))
        #expect(!html.contains("treemap"))
    }

    @Test func aPackageWithoutDependenciesSaysSo() {
        var details = PackageDetails.sample()
        details.dependencies = []
        details.description = ""
        let html = render(PageRequest(package: "nano"), details: details)
        #expect(html.contains("It needs no other package.") && !html.contains(#"class="tree""#))
        #expect(!html.contains(#"class="prose""#))
    }

    @Test func aTreeThatIsCutOffSaysSo() {
        var details = PackageDetails.sample()
        details.hasMoreDependencies = true
        let html = render(PageRequest(package: "nano"), details: details)
        #expect(html.contains("The first 3 packages of those that it needs, in 2 levels."))
    }

    @Test func anUnknownPackageIsNamed() {
        let html = render(PageRequest(query: "edit", package: "n<no"))
        #expect(html.contains("No package is named “n&lt;no”."))
        #expect(html.contains(#"<a id="close" href="/?q=edit">Close</a>"#))
    }

    /// All controls are links or fields of a form with a button.
    @Test func worksWithoutJavaScript() {
        let outline = HTMLOutline(
            render(PageRequest(query: "edit", section: "libs", package: "nano"), details: .sample()))
        let form = outline.tags.first { $0.name == "form" }
        #expect(form?.attributes.contains(.init(name: "action", value: "/")) == true)
        #expect(form?.attributes.contains(.init(name: "method", value: "get")) == true)
        #expect(outline.tags.contains(.init(name: "button", attributes: [.init(name: "type", value: "submit")])))
        let names = outline.tags.filter { $0.name == "input" || $0.name == "select" }
            .compactMap { tag in tag.attributes.first { $0.name == "name" }?.value }
        #expect(names == ["q", "section"])
        for tag in outline.tags where tag.name == "a" {
            #expect(tag.attributes.contains { $0.name == "href" && $0.value?.isEmpty == false }, "\(tag)")
        }
        // Controls that need the script are hidden until it has begun.
        for id in ["import-form", "keys", "connection", "notice", "imports"] {
            let tag = outline.tags.first { $0.attributes.contains(.init(name: "id", value: id)) }
            #expect(tag?.attributes.contains { $0.name == "hidden" } == true, "\(id)")
        }
    }

    @Test func noElementSharesItsName() {
        let contents = [
            render(), render(PageRequest(package: "nano"), details: .sample()), render(PageRequest(package: "x")),
            render(PageRequest(), nil, problem: "no"), render(PageRequest(), .unmatched, statistics: .empty),
        ]
        for html in contents {
            let ids = HTMLOutline(html).tags.flatMap(\.attributes).filter { $0.name == "id" }.compactMap(\.value)
            #expect(Set(ids).count == ids.count, "\(ids)")
            PageEscapingTests.expectNoScript(HTMLOutline(html))
        }
    }
}
