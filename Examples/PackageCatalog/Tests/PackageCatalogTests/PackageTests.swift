import Testing

@testable import PackageCatalog

struct PackageTests {
    private static func package(_ text: String) throws -> Package {
        var parser = ControlFileParser(keeping: Package.fieldNames)
        let items = parser.parse(Array(text.utf8)) + parser.finish()
        return try Package(stanza: #require(items.first).get())
    }

    @Test func allFields() throws {
        let package = try Self.package(
            """
            Package: adduser
            Status: install ok installed
            Section: admin
            Installed-Size: 686
            Maintainer: Someone <someone@example.org>
            Architecture: all
            Version: 1:3.134~rc1-2
            Pre-Depends: dpkg (>= 1.17)
            Suggests: perl, cron | anacron
            Size: 12345
            Description: add and remove users
             and groups
            """)
        #expect(package.name == "adduser")
        #expect(package.state == "installed")
        #expect(package.section == "admin")
        #expect(package.installedSize == 686)
        #expect(package.maintainer == "Someone <someone@example.org>")
        #expect(package.architecture == "all")
        #expect(package.version == "1:3.134~rc1-2")
        #expect(package.downloadSize == 12345)
        #expect(package.summary == "add and remove users")
        #expect(
            package.dependencies.map { "\($0.kind.rawValue): \($0)" } == [
                "Pre-Depends: dpkg (>= 1.17)", "Suggests: perl", "Suggests: cron | anacron",
            ])
    }

    @Test func onlyTheNameIsNeeded() throws {
        let package = try Self.package("Package: a")
        #expect(package.state == Package.available)
        #expect([package.architecture, package.version] == ["", ""])
        #expect(package.dependencies.isEmpty)
    }

    /// Two of them mark the words that a search finds.
    @Test func controlCharactersOfADescriptionAreReplaced() throws {
        let package = try Self.package("Package: a\nDescription: \u{2}b\u{3}\tc\n d\u{0}e\n .\n f")
        #expect(package.summary == "\u{FFFD}b\u{FFFD}\tc")
        #expect(package.description == "d\u{FFFD}e\n\nf")
    }

    @Test(arguments: [
        ("Source: a", 1, "no Package field"),
        ("Package: a b", 1, "bad package name \"a b\""),
        ("Package:", 1, "bad package name \"\""),
        ("Package: a\nVersion: 1 2", 2, "bad Version \"1 2\""),
        ("Package: a\nInstalled-Size: 12k", 2, "bad Installed-Size \"12k\""),
        ("Package: a\nInstalled-Size: -1", 2, "bad Installed-Size \"-1\""),
        ("Package: a\nSize: 99999999999999999999", 2, "bad Size \"99999999999999999999\""),
        ("Package: a\nInstalled-Size: 1099511627777", 2, "bad Installed-Size \"1099511627777\""),
        ("Package: a\nStatus: installed", 2, "bad Status \"installed\""),
        ("Package: a\nVersion: 1\nDepends: b (> 1", 3, "bad Depends: expected ')', found the end"),
    ])
    func malformed(text: String, line: Int, reason: String) {
        #expect(throws: MalformedStanza(line: line, reason: reason)) { try Self.package(text) }
    }

    /// One byte more than each field may have.
    @Test(arguments: [
        ("Package: ", 255, 1, "Package longer than 255 bytes"),
        ("Package: a\nArchitecture: ", 64, 2, "Architecture longer than 64 bytes"),
        ("Package: a\nVersion: ", 255, 2, "Version longer than 255 bytes"),
        ("Package: a\nStatus: install ok ", 117, 2, "Status longer than 128 bytes"),
        ("Package: a\nSection: ", 128, 2, "Section longer than 128 bytes"),
        ("Package: a\nMaintainer: ", 1024, 2, "Maintainer longer than 1024 bytes"),
        ("Package: a\nHomepage: ", 2048, 2, "Homepage longer than 2048 bytes"),
        ("Package: a\nDescription: ", 4096, 2, "summary longer than 4096 bytes"),
        ("Package: a\nDepends: ", 255, 2, "bad Depends: a package name longer than 255 bytes"),
        ("Package: a\nDepends: b:", 255, 2, "bad Depends: an architecture after ':' longer than 255 bytes"),
    ])
    func longFieldsAreMalformed(start: String, length: Int, line: Int, reason: String) throws {
        let longest = start + String(repeating: "x", count: length)
        _ = try Self.package(longest)
        #expect(throws: MalformedStanza(line: line, reason: reason)) { try Self.package(longest + "x") }
    }

    @Test func dependenciesAreBoundedInNumber() throws {
        let half = Array(repeating: "b", count: Package.maximumAlternatives / 2)
        let most = "Package: a\nDepends: \(half.joined(separator: ","))\nSuggests: \(half.joined(separator: "|"))"
        let dependencies = try Self.package(most).dependencies
        #expect(dependencies.reduce(0) { $0 + $1.alternatives.count } == 10_000)
        let malformed = MalformedStanza(line: 3, reason: "bad Suggests: too many alternatives")
        #expect(throws: malformed) { try Self.package(most + "|b") }
    }

    /// Messages don't grow with a character that has many combining marks, nor with a run of signs.
    @Test(arguments: [
        "e\(String(repeating: "\u{301}", count: 100_000)): a",
        "Package: a\nDepends: e\(String(repeating: "\u{301}", count: 100_000))",
        "Package: a\nDepends: b (\(String(repeating: "<", count: 100_000)) 1)",
    ])
    func messagesAreShort(text: String) throws {
        let error = #expect(throws: MalformedStanza.self) { try Self.package(text) }
        #expect(try #require(error).reason.utf8.count < 600)
    }

    @Test(arguments: [
        "libc6 (>= 2.36)", "a | b (<< 1:2~3) | c", "python3:any (>= 3.9~)", "a [amd64 !i386]", "a <!nocheck> <cross x>",
        "a:native (= 1.0-2+b1) [linux-any] <!nocheck>",
    ])
    func dependenciesPrintAsTheyRead(text: String) throws {
        #expect(try Dependency.parse(text, kind: .depends).map(\.description) == [text])
    }

    @Test func dependencyFieldsAreLenientAboutSpace() throws {
        let entries = try Dependency.parse("a(>=1)|b ,\n c [ amd64 ],d(< 2), e (>\t3)", kind: .recommends)
        #expect(entries.map(\.description) == ["a (>= 1) | b", "c [amd64]", "d (<= 2)", "e (>= 3)"])
        #expect(try Dependency.parse(" ", kind: .depends).isEmpty)
    }

    @Test(arguments: [
        ("a,", "expected a package name, found the end"),
        ("a, , b", "expected a package name, found ','"),
        ("a | ", "expected a package name, found the end"),
        ("a b", "expected ',' or '|', found 'b'"),
        ("+a", "bad package name \"+a\""),
        ("a: b", "expected an architecture after ':', found ' '"),
        ("a ()", "expected a version relation, found ')'"),
        ("a (=> 1)", "unknown version relation '=>'"),
        ("a (>= )", "expected a version, found ')'"),
        ("a (>= 1 2)", "expected ')', found '2'"),
        ("a []", "expected an architecture, found ']'"),
        ("a [amd64", "expected an architecture, found the end"),
        ("a <", "expected a build profile, found the end"),
        ("a é", "expected ',' or '|', found 'é'"),
    ])
    func badDependencies(text: String, reason: String) {
        let error = #expect(throws: DependencySyntaxError.self) { try Dependency.parse(text, kind: .depends) }
        #expect(error?.reason == reason)
    }
}
