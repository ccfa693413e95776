import Testing

@testable import CatalogServer

struct PageAddressTests {
    @Test(arguments: [
        (PageAddress(), "/"), (PageAddress(query: "a+b c&d=é"), "/?q=a%2Bb%20c%26d%3D%C3%A9"),
        (
            PageAddress(query: "x", section: "non-free/libs", page: 3, package: "libstdc++6"),
            "/?q=x&section=non-free%2Flibs&page=3&package=libstdc%2B%2B6"
        ),
        (PageAddress(section: "\n\""), "/?section=%0A%22"),
    ])
    func encodesAllButUnreservedBytes(address: PageAddress, path: String) {
        #expect(address.path == path)
    }

    @Test func jsonHasThePackagesAlone() {
        #expect(PageAddress(query: "x", page: 2, package: "y").jsonPath == "/packages?q=x&page=2")
    }

    @Test func anotherSectionBeginsAtTheFirstPage() {
        #expect(
            PageAddress(query: "x", section: "a", page: 2, package: "y").with(section: "b").path
                == "/?q=x&section=b&package=y")
    }
}

struct PageQuantitiesTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (63_412, "63,412"), (1_234_567, "1,234,567"), (-1000, "-1,000"),
    ])
    func groupsDigits(number: Int, text: String) { #expect(PageQuantities.count(number) == text) }

    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9999, "9.9 kB"), (10_000, "10 kB"), (999_999, "999 kB"),
        (1_250_000, "1.2 MB"), (4_700_000_000, "4.7 GB"), (Int.max, "9 EB"),
    ])
    func roundsBytesDown(number: Int, text: String) { #expect(PageQuantities.bytes(number) == text) }

    @Test func agreesInNumber() {
        #expect(PageQuantities.count(1, "package", "packages") == "1 package")
        #expect(PageQuantities.count(0, "package", "packages") == "0 packages")
    }
}

struct DescriptionBlockTests {
    @Test func joinsLinesAndSeparatesParagraphs() {
        #expect(
            DescriptionBlock.blocks(of: "one\ntwo\n\nthree") == [
                .init(paragraph: "one two"), .init(paragraph: "three"),
            ])
    }

    @Test func readsLists() {
        #expect(
            DescriptionBlock.blocks(of: "It has:\n * one\n   more\n - two\n\nEnd -x") == [
                .init(paragraph: "It has:"), .init(items: ["one more", "two"]), .init(paragraph: "End -x"),
            ])
    }

    @Test(arguments: ["", "\n\n", "  \n\t"])
    func emptyTextsHaveNone(text: String) { #expect(DescriptionBlock.blocks(of: text).isEmpty) }

    @Test func aMarkWithoutTextIsAText() {
        #expect(DescriptionBlock.blocks(of: "*\n**bold**\r\nrest") == [.init(paragraph: "* **bold** rest")])
    }

    /// A stanza has room for 340,000 lines of one letter.
    @Test func showTheFirstLines() {
        func text(_ lines: Int) -> String { Array(repeating: "a", count: lines).joined(separator: "\n") }
        let shown = Array(repeating: "a", count: 5_000).joined(separator: " ")
        #expect(DescriptionBlock.blocks(of: text(5_000)) == [.init(paragraph: shown)])
        #expect(
            DescriptionBlock.blocks(of: text(340_000)) == [.init(paragraph: shown), .init(paragraph: "…")])
    }
}
