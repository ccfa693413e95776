import Foundation
import Logging
import PackageCatalog
import Testing

@testable import CatalogServer

/// A running server of a catalogue in a file, for a browser.
struct PageServer: Sendable {
    let address: String
    /// The file of the catalogue.
    let database: String
    /// Of the catalogue.
    let folder: String
    let catalog: Catalog

    /// - parameter list: a control file for the catalogue; nil for an empty catalogue.
    static func run(_ list: String?, _ body: @escaping @Sendable (PageServer) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/catalog-page-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = folder + "/catalog.sqlite"
        let catalog = try await Catalog.open(path: database)
        if let list { _ = try await Importer(catalog: catalog).run([PageList(text: list)]) { _ in } }
        var logger = Logger(label: "page")
        logger.logLevel = .error
        let server = CatalogServer(catalog, logger: logger)
        try await server.serve(services: server.services, logger: logger) { port in
            try await body(
                PageServer(address: "http://127.0.0.1:\(port)", database: database, folder: folder, catalog: catalog))
        }
        try await catalog.close()
    }

    /// Runs a server, and a page on it, whose console must stay silent.
    static func browse(
        _ list: String? = PageList.sample, _ body: @escaping @Sendable (Browser, PageServer) async throws -> Void
    ) async throws {
        try await run(list) { server in
            try await Browser.run(at: server.address) { browser in
                try await body(browser, server)
                let messages = try await browser.consoleMessages()
                #expect(messages.isEmpty)
            }
        }
    }

    /// Writes a file into the folder of the catalogue.
    func file(_ name: String, _ text: String) throws -> String {
        let path = folder + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }
}

/// A control file in memory.
struct PageList: ControlFileSource {
    var name = "status"
    var text: String
    var byteCount: Int? { text.utf8.count }

    func read(_ consume: (ControlFileBlock) async throws -> Void) async throws {
        try await consume(ControlFileBlock(text: Array(text.utf8), bytesRead: text.utf8.count))
    }

    static func stanza(
        _ name: String, _ summary: String, section: String = "libs", size: Int = 100, needs: String? = nil,
        description: String = "A package of a test."
    ) -> String {
        """
        Package: \(name)
        Architecture: amd64
        Version: 1.0
        Section: \(section)
        Installed-Size: \(size)
        \(needs.map { "Depends: \($0)\n" } ?? "")Description: \(summary)
         \(description)


        """
    }

    /// Two editors with their libraries, and 40 games.
    static let sample: String = [
        stanza("nano", "small, friendly text editor", section: "editors", size: 2900, needs: "libncurses6, libc6"),
        stanza("vim", "enhanced vi editor", section: "editors", size: 3700, needs: "libc6, vim-runtime"),
        stanza("libncurses6", "shared libraries for terminal handling", size: 400, needs: "libc6, libtinfo6"),
        stanza("libtinfo6", "shared low-level terminfo library", size: 530),
        stanza("libc6", "GNU C Library", size: 13_000), more(40, "game", section: "games"),
    ].joined()

    static func more(_ count: Int, _ name: String, section: String = "games") -> String {
        (1...count).map { stanza("\(name)\($0)", "package number \($0)", section: section) }.joined()
    }
}
