import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import CatalogServer

/// `GET /packages` and `GET /packages/{name}`.
struct PackagesTests {
    static let shelf = """
        Package: sqlite3
        Architecture: amd64
        Version: 3.40.1-2
        Section: database
        Homepage: https://www.sqlite.org/
        Installed-Size: 10
        Depends: libsqlite3-0 (= 3.40.1-2), libc6 | libc6-alt
        Description: Command line interface for SQLite
         Keeps tables in a <file>.

        Package: libsqlite3-0
        Architecture: amd64
        Version: 3.40.1-2
        Section: libs
        Installed-Size: 2
        Depends: libc6
        Description: SQLite library

        Package: libc6
        Architecture: amd64
        Version: 2.36
        Section: libs
        Description: GNU C Library

        Package: libc6
        Architecture: i386
        Version: 2.35
        Section: oldlibs
        Status: install ok installed
        Description: GNU C Library of another machine


        """

    @Test func listsAllPackagesByNameWithoutWords() async throws {
        try await TestServer.run(stanzas: Self.shelf) { server async throws in
            let page = try await server.get(PackagePage.self, "/packages")
            #expect(page.packages.map(\.name) == ["libc6", "libsqlite3-0", "sqlite3"])
            #expect((page.page, page.pageCount, page.matchCount) == (1, 1, 3))
            #expect(page.query == nil && page.section == nil)
            #expect(page.packages[0].version == "2.36")
            #expect(page.packages[2].installedSize == 10_240)
            #expect(page.packages[2].summary == [.init(text: "Command line interface for SQLite", isMatch: false)])
            let blank = try await server.get(PackagePage.self, "/packages?q=+%20&section=")
            #expect(blank.packages == page.packages)
        }
    }

    @Test func findsWordsBestMatchFirstAndMarksThem() async throws {
        try await TestServer.run(stanzas: Self.shelf) { server async throws in
            let page = try await server.get(PackagePage.self, "/packages?q=sqlite")
            #expect(Set(page.packages.map(\.name)) == ["sqlite3", "libsqlite3-0"])
            let library = try #require(page.packages.first { $0.name == "libsqlite3-0" })
            #expect(library.summary == [.init(text: "SQLite", isMatch: true), .init(text: " library", isMatch: false)])
            #expect(library.excerpt == nil)
            let file = try await server.get(PackagePage.self, "/packages?q=file+tables")
            #expect(file.packages.map(\.name) == ["sqlite3"])
            let excerpt = try #require(file.packages[0].excerpt)
            #expect(excerpt.filter(\.isMatch).map(\.text) == ["tables", "file"])
            #expect(excerpt.map(\.text).joined() == "Keeps tables in a <file>.")
        }
    }

    @Test func filtersBySection() async throws {
        try await TestServer.run(stanzas: Self.shelf) { server async throws in
            let libraries = try await server.get(PackagePage.self, "/packages?section=libs")
            #expect(libraries.packages.map(\.name) == ["libc6", "libsqlite3-0"])
            #expect(libraries.matchCount == 2)
            let found = try await server.get(PackagePage.self, "/packages?q=sqlite&section=libs")
            #expect(found.packages.map(\.name) == ["libsqlite3-0"])
            #expect(found.matchCount == 1)
            let unknown = try await server.get(PackagePage.self, "/packages?section=no+such")
            #expect(unknown.packages == [] && unknown.matchCount == 0 && unknown.pageCount == 1)
        }
    }

    @Test func hasPagesUpToTheLastOne() async throws {
        try await TestServer.run(stanzas: stanzas(0..<45)) { server async throws in
            let last = try await server.get(PackagePage.self, "/packages?page=3")
            #expect((last.page, last.pageCount, last.matchCount, last.packages.count) == (3, 3, 45, 5))
            let found = try await server.get(PackagePage.self, "/packages?q=package&page=2")
            #expect((found.pageCount, found.packages.count) == (3, 20))
            #expect(
                try await server.refusal("/packages?page=4")
                    == Refusal(status: 404, error: "There is no page 4: there are 3 pages."))
            #expect(
                try await server.refusal("/packages?q=nothing&page=2")
                    == Refusal(status: 404, error: "There is no page 2: there is one page."))
        }
    }

    @Test(arguments: [
        ("page=0", "The page must be a number from 1, not \"0\"."),
        ("page=-1", "The page must be a number from 1, not \"-1\"."),
        ("page=two", "The page must be a number from 1, not \"two\"."),
        ("page=99999999999999999999", "The page must be a number from 1, not \"99999999999999999999\"."),
        ("page=10001", "The page must be at most 10000, not \"10001\"."),
        ("q=%zz", "The percent encoding of \"q\" is broken: \"%zz\"."),
        ("q=%4", "The percent encoding of \"q\" is broken: \"%4\"."),
        ("q=%ff", "The value of \"q\" is not valid UTF-8: \"%ff\"."),
        ("q=a&q=b", "The parameter \"q\" was given twice."),
    ])
    func refusesBadParameters(query: String, sentence: String) async throws {
        try await TestServer.run { server async throws in
            #expect(try await server.refusal("/packages?\(query)") == Refusal(status: 400, error: sentence))
        }
    }

    @Test(arguments: [
        "%22", "sqlite%22+OR+name:*", "NEAR(a+b)", "name:", "*", "^sqlite", "a+AND+NOT+b", "%27;DROP+TABLE+packages--",
        "%00", "sql%00ite", "%F0%9F%92%A9", "(((((", "-sqlite", "{name}:x", "%0A%0D",
    ])
    func takesSyntaxOfFullTextSearchForWords(query: String) async throws {
        try await TestServer.run(stanzas: Self.shelf) { server async throws in
            let page = try await server.get(PackagePage.self, "/packages?q=\(query)")
            #expect(page.packages.count <= 3)
            #expect(try await server.get(CatalogStatistics.self, "/statistics").packageCount == 4)
        }
    }

    @Test func refusesLongTexts() async throws {
        try await TestServer.run { server async throws in
            let words = String(repeating: "a", count: 513)
            #expect(
                try await server.refusal("/packages?q=\(words)")
                    == Refusal(status: 400, error: "The search text has 513 bytes; at most 512 are allowed."))
            let address = "/packages?q=" + String(repeating: "a", count: 5000)
            #expect(
                try await server.refusal(address)
                    == Refusal(status: 414, error: "The address has 5012 bytes; at most 4096 are allowed."))
            let many = Array(repeating: "ab", count: 170).joined(separator: "+")
            #expect(try await server.get("/packages?q=\(many)").status == .ok)
        }
    }

    @Test func showsAPackageWithTheTreeOfItsDependencies() async throws {
        try await TestServer.run(stanzas: Self.shelf) { server async throws in
            let details = try await server.get(PackageDetails.self, "/packages/sqlite3")
            #expect(details.summary == "Command line interface for SQLite")
            #expect(details.description == "Keeps tables in a <file>.")
            #expect(details.section == "database")
            #expect(details.homepage == "https://www.sqlite.org/")
            #expect(details.installedSize == 10_240)
            #expect(details.dependentCount == 0)
            #expect(
                details.dependencies == [
                    .init(name: "libc6", depth: 1, neededBy: "sqlite3", isKnown: true),
                    .init(name: "libc6-alt", depth: 1, neededBy: "sqlite3", isKnown: false),
                    .init(name: "libsqlite3-0", depth: 1, neededBy: "sqlite3", isKnown: true),
                ])
            let library = try await server.get(PackageDetails.self, "/packages/libc6")
            #expect((library.version, library.otherVersions, library.dependentCount) == ("2.36", ["2.35 i386"], 2))
            #expect(library.dependencies == [])
        }
    }

    @Test func boundsTheOtherVersions() async throws {
        var limits = ServerLimits()
        limits.versionCount = 1
        let versions = (1...3).map { "Package: a\nArchitecture: all\nVersion: \($0)\n" }.joined(separator: "\n")
        try await TestServer.run(limits: limits, stanzas: versions) { server async throws in
            let details = try await server.get(PackageDetails.self, "/packages/a")
            #expect(details.otherVersions == ["2 all"] && details.hasMoreVersions)
            #expect(try await server.get("/?package=a").text.contains("2 all and more"))
        }
    }

    /// One character has as many combining marks as a request likes.
    @Test func showsLittleOfALongText() {
        #expect(("e" + String(repeating: "\u{301}", count: 1_000)).excerpt.utf8.count < 600)
        #expect("é".excerpt == "\"é\"")
    }

    @Test func boundsTheTree() async throws {
        var limits = ServerLimits()
        limits.treeDepth = 4
        limits.treeLength = 3
        try await TestServer.run(limits: limits, stanzas: stanzas(0..<10)) { server async throws in
            let deep = try await server.get(PackageDetails.self, "/packages/p9")
            #expect(deep.dependencies.map(\.name) == ["p8", "p7", "p6"])
            #expect(deep.dependencies.map(\.depth) == [1, 2, 3])
            #expect(deep.hasMoreDependencies)
            let shallow = try await server.get(PackageDetails.self, "/packages/p3")
            #expect(shallow.dependencies.map(\.neededBy) == ["p3", "p2", "p1"])
            #expect(!shallow.hasMoreDependencies)
        }
    }

    @Test func namesThePackageThatIsUnknown() async throws {
        try await TestServer.run { server async throws in
            #expect(
                try await server.refusal("/packages/no%20such%22")
                    == Refusal(status: 404, error: "There is no package \"no such\\\"\"."))
            #expect(try await server.refusal("/packages/%00").status == 404)
            #expect(try await server.refusal("/packages/%f").status == 400)
            #expect(
                try await server.refusal("/nowhere")
                    == Refusal(status: 404, error: "There is nothing at \"/nowhere\"."))
        }
    }

    @Test(arguments: [
        ("/packages", HTTPRequest.Method.delete, "GET, HEAD"), ("/packages/p1", .put, "GET, HEAD"),
        ("/", .post, "GET, HEAD"), ("/catalog.js", .options, "GET, HEAD"), ("/events", .post, "GET, HEAD"),
        ("/imports", .get, "POST"), ("/imports", .head, "POST"),
    ])
    func namesTheMethodsOfARoute(uri: String, method: HTTPRequest.Method, allowed: String) async throws {
        try await TestServer.run { server async throws in
            let response = try await server.get(uri, method)
            #expect(response.headers[.allow] == allowed)
            #expect(response.status == .methodNotAllowed)
            if method == .head { return }
            #expect(
                try Refusal(response).error
                    == "\"\(uri)\" can't be asked for by \(method.rawValue), but by \(allowed).")
        }
    }

    @Test func answersHeadWithoutABody() async throws {
        try await TestServer.run(stanzas: Self.shelf) { server async throws in
            for uri in ["/", "/packages?q=sqlite", "/packages/libc6", "/statistics", "/health", "/catalog.css"] {
                let head = try await server.get(uri, .head)
                let full = try await server.get(uri)
                #expect(head.status == .ok && head.body.readableBytes == 0)
                #expect(head.headers[.contentLength] == "\(full.body.readableBytes)")
            }
            #expect(try await server.get("/packages/none", .head).status == .notFound)
            #expect(try await server.get("/events", .head).status == .ok)
            try await until { server.server.hub.subscribers.count == 0 }
        }
    }

    /// Whatever comes after the head would be taken for the next answer.
    @Test(arguments: ["/imports", "/packages/none", "/nowhere", "/packages/%f", "/packages?limit=x", "/events"])
    func sendsNothingAfterTheHeadOfAnAnswerToHead(uri: String) async throws {
        try await TestServer.run { server async throws in
            let client = try await SilentClient(
                port: server.port,
                request: "HEAD \(uri) HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    + "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let answers = await client.read(until: "\r\n\r\n{")
            let next = try #require(answers.range(of: "\r\n\r\n")).upperBound
            #expect(answers[next...].hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answers)")
        }
    }

    @Test func marksNoWordsThatATextMarksItself() async throws {
        let text = stanzas(0..<1, summary: "a \u{2}marked\u{3} word")
        try await TestServer.run(stanzas: text) { server async throws in
            let page = try await server.get(PackagePage.self, "/packages?q=p0")
            #expect(page.packages[0].summary == [.init(text: "a \u{FFFD}marked\u{FFFD} word", isMatch: false)])
        }
    }

    @Test func countsPackagesSectionsAndDependents() async throws {
        try await TestServer.run(stanzas: Self.shelf) { server async throws in
            let statistics = try await server.get(CatalogStatistics.self, "/statistics")
            #expect((statistics.packageCount, statistics.dependencyCount) == (4, 4))
            #expect(
                statistics.sections.map(\.section) == ["database", "libs", "oldlibs"])
            #expect(statistics.sections[1] == .init(section: "libs", packageCount: 2, installedSize: 2048))
            #expect(statistics.mostDependedOn.first == .init(name: "libc6", dependentCount: 2))
            #expect(statistics.largestPackages.map(\.name) == ["sqlite3", "libsqlite3-0"])
        }
    }
}
