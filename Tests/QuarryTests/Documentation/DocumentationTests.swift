import Foundation
import Testing

/// Every Swift fence of the README, of `Documentation/` and of the articles is, line for line, in a file of this
/// folder, or of those of the other tests in `sampleFolders`: there it is compiled, and run by a test. A fence that
/// can't be run starts with `// Package.swift`. The files of "Getting started in a server" need a package of their own,
/// which `Scripts/follow-getting-started` makes and runs: other articles may show parts of them.
@Suite struct DocumentationTests {
    @Test(arguments: try Self.documents().filter { $0 != Self.followedArticle })
    func fencesAreCompiledAndRun(document: String) throws {
        let paths = try Self.sampleFolders.flatMap { try Self.files(in: $0, suffix: ".swift") } + [Self.followedArticle]
        let samples = try paths.map { path in try Self.lines(of: path) }
        for fence in Fence.all(in: try Self.lines(of: document)) where fence.lines.first != "// Package.swift" {
            #expect(
                samples.contains { fence.stands(in: $0) },
                "\(document):\(fence.line): no sample in \(Self.sampleFolders) has this code")
        }
    }

    @Test func theTourIsInTheREADME() throws {
        let fences = Fence.all(in: try Self.lines(of: "README.md"))
        #expect(fences.contains { $0.lines.first == "import Quarry" })
    }

    @Test(arguments: try Self.documents())
    func linksLeadSomewhere(document: String) throws {
        let folder = Self.root.appending(path: document).deletingLastPathComponent()
        for (index, line) in try Self.lines(of: document).enumerated() {
            for match in line.matches(of: #/\]\(([^)#]+)[^)]*\)/#) where !match.1.contains("://") {
                #expect(
                    FileManager.default.fileExists(atPath: folder.appending(path: String(match.1)).path),
                    "\(document):\(index + 1): there is no \(match.1)")
            }
        }
    }

    @Test func eachCatalogIsRead() throws {
        let catalogs = try Self.catalogs()
        #expect(catalogs.count == 15)
        let documents = try Self.documents()
        for catalog in catalogs { #expect(documents.contains { $0.hasPrefix(catalog) }, "\(catalog) has no article") }
    }

    @Test func eachDecisionIsInTheIndex() throws {
        let index = try Self.lines(of: "Documentation/Decisions/README.md").joined(separator: "\n")
        for page in try Self.files(in: "Documentation/Decisions", suffix: ".md") {
            let name = page.split(separator: "/").last ?? ""
            #expect(name == "README.md" || index.contains("](\(name))"), "the index lacks \(name)")
        }
    }

    @Test func aFenceIsFoundByItsLines() throws {
        let document = ["Text", "```swift", "let a = 1", "", "    let b = 2", "```", "```sh", "make", "```"]
        let fences = Fence.all(in: document)
        #expect(fences == [Fence(line: 3, lines: ["let a = 1", "", "    let b = 2"])])
        let fence = try #require(fences.first)
        #expect(fence.stands(in: ["{", "    let a = 1", "", "        let b = 2", "}"]))
        #expect(!fence.stands(in: ["{", "    let a = 1", "", "    let b = 2", "}"]))
        #expect(!fence.stands(in: ["    let a = 1", ""]))
        #expect(!fence.stands(in: ["// let a = 1", "", "//     let b = 2"]))
    }
}

/// A code block of a Markdown file.
private struct Fence: Equatable {
    /// The number of its first line of code.
    var line: Int
    var lines: [String]

    /// The Swift fences of a document.
    static func all(in document: [String]) -> [Fence] {
        var fences: [Fence] = []
        var current: Fence?
        var isInsideOther = false
        for (index, line) in document.enumerated() {
            if let fence = current {
                if line == "```" {
                    fences.append(fence)
                    current = nil
                } else {
                    current?.lines.append(line)
                }
            } else if isInsideOther {
                isInsideOther = line != "```"
            } else if line == "```swift" {
                current = Fence(line: index + 2, lines: [])
            } else if line.hasPrefix("```") {
                isInsideOther = true
            }
        }
        return fences
    }

    /// Whether the lines follow one another in `source`, all indented by the same spaces.
    func stands(in source: [String]) -> Bool {
        guard let first = lines.first, source.count >= lines.count else { return false }
        return (0...(source.count - lines.count)).contains { start in
            guard source[start].hasSuffix(first) else { return false }
            let indentation = source[start].dropLast(first.count)
            guard indentation.allSatisfy({ $0 == " " }) else { return false }
            return zip(lines, source[start...]).allSatisfy { line, sourceLine in
                line.isEmpty ? sourceLine.isEmpty : sourceLine == indentation + line
            }
        }
    }
}

extension DocumentationTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static let sampleFolders = [
        "Tests/QuarryTests/Documentation", "Tests/QuarryDocumentsTests/Documentation",
        "Tests/QuarryClusterTests/Documentation", "Tests/QuarryInstrumentationTests/Documentation",
        "Cluster/Tests/ClusterNodeTests/Documentation",
    ]

    private static let followedArticle = "Sources/Quarry/Quarry.docc/GettingStartedInAServer.md"

    private static func catalogs() throws -> [String] {
        try files(in: "Sources", suffix: "").map { "\($0)/\($0.split(separator: "/")[1]).docc" }
            .filter { FileManager.default.fileExists(atPath: root.appending(path: $0).path) }
    }

    private static func documents() throws -> [String] {
        let folders = try ["Documentation", "Documentation/Decisions"] + catalogs()
        return try ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
            + folders.flatMap { try files(in: $0, suffix: ".md") }
    }

    private static func files(in folder: String, suffix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(suffix) }
            .sorted()
            .map { "\(folder)/\($0)" }
    }

    private static func lines(of path: String) throws -> [String] {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }
}
