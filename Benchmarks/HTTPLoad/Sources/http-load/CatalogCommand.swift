import ArgumentParser
import Foundation

/// The catalogue's server of `Examples/CatalogServer`, with a catalogue of packages that are made up.
struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog", abstract: "Load the server of Examples/CatalogServer: reads, writes, event streams.")

    @Option(help: ArgumentHelp("The program catalog-server.", valueName: "path"))
    var server: String

    @Option(help: ArgumentHelp("Number of packages in the catalogue.", valueName: "n"))
    var packages = 10_000

    @Option(help: ArgumentHelp("Number of connections of reads.", valueName: "n"))
    var connections = 64

    @Option(help: ArgumentHelp("Number of clients of /events.", valueName: "n"))
    var clients = 1_000

    @Option(help: ArgumentHelp("Seconds of each load.", valueName: "n"))
    var seconds = 5

    func validate() throws {
        for (name, value) in [
            ("packages", packages), ("connections", connections), ("clients", clients), ("seconds", seconds),
        ] where value < 1 {
            throw ValidationError("--\(name) must be at least 1, not \(value).")
        }
    }

    func run() async throws {
        // The server inherits the limit; a client takes a descriptor on either side.
        try OpenFiles.allow(clients + 500)
        var table = MarkdownTable(["load", "connections", "requests/s, p50, p99"])
        var failureCount = 0
        try await HTTPLoad.withFolder { folder in
            try await Server(
                path: server, arguments: ["--database", folder + "/c.sqlite", "--port", "0", "--log-level", "error"]
            ).running { url in
                try await ImportRequest(url: url, source: "list", text: ControlText.packages(packages)).run()
                for load in CatalogLoad.all(packages: packages, readers: connections) {
                    let figures = try await Wrk(url: url, script: load.script).run(
                        connections: load.connections, seconds: seconds)
                    table.add([load.name, "\(load.connections)", figures.description])
                    failureCount += figures.failureCount
                }
                print("\(table)\n")
                print(try await EventLoad(url: url, clientCount: clients, packageCount: packages / 2).run())
            }
        }
        if failureCount > 0 { throw Server.Failure(description: "\(failureCount) requests failed") }
    }
}

struct CatalogLoad {
    let name: String
    let connections: Int
    let script: String

    static func all(packages: Int, readers: Int) -> [CatalogLoad] {
        let details = #""/packages/package-" .. math.random(0, \#(packages - 1))"#
        // The second word is common, the first one is not.
        let search = #""/packages?q=word" .. math.random(0, 999) .. "%20library""#
        // Thirty sections, twenty packages a page.
        let pages = max(packages / 600, 1)
        let list = #""/packages?section=section" .. math.random(0, 29) .. "&page=" .. math.random(1, \#(pages))"#
        // An import of one package is one durable transaction or a few. Sources differ: one is imported once at a time.
        let write = """
            local number = 0
            function import()
                number = number + 1
                return wrk.format("POST", "/imports?source=s" .. (number % 64), {},
                    "Package: written-" .. (number % 64) .. "\\nArchitecture: all\\nVersion: " .. number .. "\\n")
            end

            """
        let mixed = """
            local turn = 0
            request = function()
                turn = turn + 1
                if turn % 10 == 0 then return import() end
                if turn % 10 < 4 then return wrk.format("GET", \(search)) end
                return wrk.format("GET", \(details))
            end
            """
        return [
            CatalogLoad(name: "details with the tree of dependencies", connections: readers, script: Wrk.get(details)),
            CatalogLoad(name: "full-text search", connections: readers, script: Wrk.get(search)),
            CatalogLoad(name: "a page of a section", connections: readers, script: Wrk.get(list)),
            CatalogLoad(name: "statistics", connections: readers, script: Wrk.get(#""/statistics""#)),
            CatalogLoad(
                name: "imports of one package, FULL", connections: 4, script: write + "request = import"),
            CatalogLoad(
                name: "mixed: 6 details, 3 searches, 1 import", connections: 4, script: write + mixed),
        ]
    }
}

/// A control file of packages that are made up: names, sections, descriptions, dependencies.
enum ControlText {
    static func packages(_ count: Int, version: Int = 1) -> String {
        (0..<count).map { number in
            let dependencies = (1...5).map { "package-\((number / 2 + $0 * 37) % count)" }.joined(separator: ", ")
            return """
                Package: package-\(number)
                Architecture: amd64
                Version: \(version).\(number % 7)
                Section: section\(number % 30)
                Installed-Size: \(number % 5000 + 1)
                Maintainer: Maintainer \(number % 400) <m\(number % 400)@example.org>
                Depends: \(dependencies)
                Description: library of word\(number % 1000) and word\((number * 31) % 1000)
                 A longer text about word\((number * 7) % 1000), which describes what the library does.

                """
        }.joined(separator: "\n")
    }
}

/// The number of files that this process, and the processes that it starts, may open.
enum OpenFiles {
    static func allow(_ count: Int) throws {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        guard limit.rlim_cur < rlim_t(count) else { return }
        guard limit.rlim_max >= rlim_t(count) else {
            throw ValidationError(
                "\(count) open files are needed, and \(limit.rlim_max) allowed: give fewer --clients.")
        }
        limit.rlim_cur = rlim_t(count)
        guard setrlimit(resource, &limit) == 0 else {
            throw ValidationError("\(count) open files are needed: \(String(cString: strerror(errno))).")
        }
    }

    #if os(Linux)
    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
    private static var resource: Int32 { RLIMIT_NOFILE }
    #endif
}
