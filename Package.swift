// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of a module that has a trait. Without it, the module is an error in a checkout that SwiftPM has made
/// for another package, which builds only what it uses. Here, `swift build` builds all modules.
let settingsWithTrait =
    settings
    + (Context.packageDirectory.split(separator: "/").contains("checkouts") ? [.define("QUARRY_IS_DEPENDENCY")] : [])

/// Products of other packages, each with its package. They are resolved and built only for users who enable the trait.
///
/// The packages of this repository enable `AllButTLS`: SwiftPM gives the compiler a flag for each enabled trait, and
/// the library is compiled again if a build has other flags, or the same in another order. That in `Cluster` enables
/// `ClusterTLS`, which compiles BoringSSL.
func products(_ list: KeyValuePairs<String, String>, trait: String) -> [Target.Dependency] {
    let traits: Set = trait == "ClusterTLS" ? [trait] : [trait, "AllButTLS"]
    return list.map { .product(name: $0, package: $1, condition: .when(traits: traits)) }
}

let package = Package(
    name: "Quarry",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Quarry", targets: ["Quarry"]),
        .library(name: "QuarryCJKTokenizer", targets: ["QuarryCJKTokenizer"]),
        .library(name: "QuarryCaching", targets: ["QuarryCaching"]),
        .library(name: "QuarryChangesets", targets: ["QuarryChangesets"]),
        .library(name: "QuarryDocuments", targets: ["QuarryDocuments"]),
        .library(name: "QuarryIncrementalWrites", targets: ["QuarryIncrementalWrites"]),
        .library(name: "QuarryOutbox", targets: ["QuarryOutbox"]),
        .library(name: "QuarryRecovery", targets: ["QuarryRecovery"]),
        .library(name: "QuarryShared", targets: ["QuarryShared"]),
        .library(name: "QuarryTableSchemas", targets: ["QuarryTableSchemas"]),
        .library(name: "QuarryTables", targets: ["QuarryTables"]),
        .library(name: "QuarryUntrustedSQL", targets: ["QuarryUntrustedSQL"]),
        .library(name: "QuarryClusterWire", targets: ["QuarryClusterWire"]),
        .library(name: "QuarryCluster", targets: ["QuarryCluster"]),
        .library(name: "QuarryClusterTLS", targets: ["QuarryClusterTLS"]),
        .library(name: "QuarryCodeGeneration", targets: ["QuarryCodeGeneration"]),
        .executable(name: "quarry-codegen", targets: ["quarry-codegen"]),
        .library(name: "QuarryInstrumentation", targets: ["QuarryInstrumentation"]),
    ],
    traits: [
        .trait(name: "ClusterTLS", description: "The product QuarryClusterTLS, with SwiftNIO."),
        .trait(name: "CodeGeneration", description: "The command quarry-codegen, with swift-argument-parser."),
        .trait(
            name: "Instrumentation",
            description: "The product QuarryInstrumentation, with swift-log, swift-metrics, swift-distributed-tracing "
                + "and swift-service-lifecycle."),
        .trait(name: "AllButTLS", description: "All of these but ClusterTLS."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The system's SQLite, and `static inline` shims for what Swift can't import.
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),

        // One connection: handles, values, errors, SQL text, statements, rows, fetching, transactions, hooks.
        .target(name: "QuarryCore", dependencies: ["CSQLite"], swiftSettings: settings),

        // The query interface: values that render to SQL text and arguments.
        .target(name: "QuarrySQL", dependencies: ["QuarryCore"], swiftSettings: settings),

        // Accesses: queues, pools and snapshots, what follows their commits, the log, backups into files.
        .target(name: "QuarryAccess", dependencies: ["QuarryCore"], swiftSettings: settings),

        // Records and requests: what a connection is told to do with them.
        .target(name: "QuarryRecords", dependencies: ["QuarryCore", "QuarrySQL"], swiftSettings: settings),

        // The library: accesses and records, and the parts that need both, such as migrations.
        .target(
            name: "Quarry", dependencies: ["QuarryAccess", "QuarryCore", "QuarryRecords", "QuarrySQL"],
            swiftSettings: settings),

        // Products of their own: programs that don't use them don't build them.
        // A tokenizer for full-text search in Chinese, Japanese and Korean.
        .target(name: "QuarryCJKTokenizer", dependencies: ["QuarryCore", "QuarrySQL"], swiftSettings: settings),
        // Tables whose last used records are in memory.
        .target(name: "QuarryCaching", dependencies: ["Quarry", "QuarryCore", "QuarrySQL"], swiftSettings: settings),
        // The changes of rows as values: recorded, applied to another database, taken back.
        .target(name: "QuarryChangesets", dependencies: ["QuarryCore"], swiftSettings: settings),
        // Documents by collection and key.
        .target(
            name: "QuarryDocuments", dependencies: ["Quarry", "QuarryIncrementalWrites"], swiftSettings: settings),
        // Long writes in steps, and sequences of records.
        .target(
            name: "QuarryIncrementalWrites", dependencies: ["Quarry", "QuarryCore", "QuarrySQL"],
            swiftSettings: settings),
        // Messages that are written with a change and delivered afterwards.
        .target(name: "QuarryOutbox", dependencies: ["Quarry", "QuarryCore"], swiftSettings: settings),
        // Restorations, folders of backups and their schedules; damaged files, and what is read from those.
        .target(
            name: "QuarryRecovery", dependencies: ["Quarry", "QuarryCore", "QuarrySQL"], swiftSettings: settings),
        // Databases that several parts of a program share, and directories of databases.
        .target(name: "QuarryShared", dependencies: ["Quarry", "QuarryCore"], swiftSettings: settings),
        // Tables that records declare, and their synchronization with a database.
        .target(
            name: "QuarryTableSchemas", dependencies: ["Quarry", "QuarryCore", "QuarrySQL"], swiftSettings: settings),
        // Tables whose verbs have a database, and joins of tables without an association.
        .target(name: "QuarryTables", dependencies: ["Quarry", "QuarryCore", "QuarrySQL"], swiftSettings: settings),
        // Queries that users write, within the bounds of a policy.
        .target(name: "QuarryUntrustedSQL", dependencies: ["Quarry", "QuarryCore"], swiftSettings: settings),

        // The messages between clients and nodes of a dqlite cluster, as bytes. The package in Cluster needs it, too.
        .target(name: "QuarryClusterWire", swiftSettings: settings),

        // Databases on a dqlite cluster: sessions at the leader, and the database that hands them out.
        .target(
            name: "QuarryCluster", dependencies: ["Quarry", "QuarryClusterWire", "QuarryCore"],
            swiftSettings: settings),

        // Products that bring dependencies, for users who enable their traits. No target above depends on one of them.
        // Connections to nodes with TLS. Its tests are in the package Cluster, which needs it.
        .target(
            name: "QuarryClusterTLS",
            dependencies: products(
                [
                    "NIOCore": "swift-nio", "NIOPosix": "swift-nio", "NIOTLS": "swift-nio", "NIOSSL": "swift-nio-ssl",
                ], trait: "ClusterTLS"),
            swiftSettings: settingsWithTrait),
        // The schema of a database, the records made from it, and their text. It needs no trait; its command does.
        .target(name: "QuarryCodeGeneration", dependencies: ["Quarry", "QuarrySQL"], swiftSettings: settings),
        .executableTarget(
            name: "quarry-codegen",
            dependencies: ["Quarry", "QuarryCodeGeneration"]
                + products(["ArgumentParser": "swift-argument-parser"], trait: "CodeGeneration"),
            swiftSettings: settings),
        // Tracers that log, measure and trace; a service that runs and closes databases.
        .target(
            name: "QuarryInstrumentation",
            dependencies: ["Quarry"]
                + products(
                    [
                        "Logging": "swift-log", "Metrics": "swift-metrics", "Tracing": "swift-distributed-tracing",
                        "ServiceLifecycle": "swift-service-lifecycle",
                    ], trait: "Instrumentation"),
            swiftSettings: settingsWithTrait),

        // VFSs for tests: operations that fail on demand, recorded writes, syncs that wait.
        .target(name: "CTestVFS", dependencies: ["CSQLite"], path: "Tests/CTestVFS"),

        // An allocator for SQLite that fails on demand, and the separate process it needs: tests start and kill this
        // process, and let several of them share a file.
        .target(name: "CFaultMalloc", dependencies: ["CSQLite"], path: "Tests/CFaultMalloc"),
        .executableTarget(
            name: "QuarryTestProcess",
            dependencies: [
                "CFaultMalloc", "Quarry", "QuarryDocuments", "QuarryIncrementalWrites", "QuarryOutbox",
                "QuarryRecovery", "QuarryReplica", "QuarryShared",
            ],
            path: "Tests/QuarryTestProcess",
            swiftSettings: settings),

        // A copy of a database that follows its commits.
        .target(
            name: "QuarryReplica", dependencies: ["Quarry"], path: "Tests/QuarryReplica", swiftSettings: settings),

        // The memory of the process, as counted by its allocators.
        .target(name: "CMemoryUse", dependencies: ["CSQLite"], path: "Tests/CMemoryUse"),

        // The errors that tests expect; no connection.
        .target(
            name: "QuarryExpectations", dependencies: ["QuarryCore"], path: "Tests/QuarryExpectations",
            swiftSettings: settings),

        // Connections on temporary files, emitted SQL, faults, schedules of named steps, seeded randomness.
        .target(
            name: "QuarryTestSupport", dependencies: ["CTestVFS", "QuarryCore", "QuarryExpectations"],
            path: "Tests/QuarryTestSupport", swiftSettings: settings),

        // The databases, tables and records that tests share, and queries that are compared with their SQL and rows.
        .target(
            name: "QuarryFixtures",
            dependencies: [
                "Quarry", "QuarryCore", "QuarryRecovery", "QuarryTestSupport",
            ],
            path: "Tests/QuarryFixtures", swiftSettings: settings),

        // Properties that hold for any bytes; libFuzzer searches for exceptions in a separate package, Tests/Fuzzing.
        .target(
            name: "FuzzProperties",
            dependencies: [
                "Quarry", "QuarryCJKTokenizer", "QuarryCluster", "QuarryClusterWire", "QuarryRecovery",
            ],
            path: "Tests/Fuzzing/Sources/FuzzProperties", swiftSettings: settings),
        .testTarget(
            name: "QuarryCoreTests", dependencies: ["QuarryCore", "QuarryTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "QuarrySQLTests", dependencies: ["QuarryCore", "QuarryExpectations", "QuarrySQL"],
            swiftSettings: settings),

        // The tests of Quarry are in five targets. This one also has observation, the write-ahead log and tracing.
        .testTarget(
            name: "QuarryAccessTests",
            dependencies: [
                "Quarry", "QuarryAccess", "QuarryCaching", "QuarryChangesets", "QuarryCore", "QuarryExpectations",
                "QuarryFixtures", "QuarryIncrementalWrites", "QuarryOutbox", "QuarryRecovery", "QuarryShared",
                "QuarryTestSupport", "QuarryUntrustedSQL",
            ],
            swiftSettings: settings),

        // Records and requests, schemas, full text, dumps.
        .testTarget(
            name: "QuarryRecordsTests",
            dependencies: [
                "Quarry", "QuarryCJKTokenizer", "QuarryCaching", "QuarryCore", "QuarryExpectations",
                "QuarryFixtures", "QuarryRecords", "QuarrySQL", "QuarryTables", "QuarryTestSupport",
            ],
            swiftSettings: settings),

        // Backups, damaged files, and what is read from those.
        .testTarget(
            name: "QuarryRecoveryTests",
            dependencies: [
                "Quarry", "QuarryAccess", "QuarryCore", "QuarryFixtures", "QuarryRecovery", "QuarryTestSupport",
            ],
            swiftSettings: settings),

        // Databases that several parts of a program share, and directories of databases.
        .testTarget(
            name: "QuarrySharedTests",
            dependencies: [
                "Quarry", "QuarryAccess", "QuarryCore", "QuarryExpectations", "QuarryFixtures",
                "QuarryIncrementalWrites", "QuarryOutbox", "QuarryRecovery", "QuarryShared", "QuarryTestSupport",
            ],
            swiftSettings: settings),

        // The other folders, and tests that use several of them: documentation, bad input, random statements.
        .testTarget(
            name: "QuarryTests",
            dependencies: [
                "CSQLite", "FuzzProperties", "Quarry", "QuarryAccess", "QuarryCJKTokenizer", "QuarryCaching",
                "QuarryChangesets", "QuarryCore", "QuarryExpectations", "QuarryFixtures",
                "QuarryIncrementalWrites", "QuarryOutbox", "QuarryRecovery", "QuarryShared", "QuarryTableSchemas",
                "QuarryTables", "QuarryTestSupport", "QuarryUntrustedSQL",
            ],
            swiftSettings: settings),

        .testTarget(
            name: "QuarryDocumentsTests",
            dependencies: [
                "Quarry", "QuarryAccess", "QuarryCaching", "QuarryDocuments", "QuarryIncrementalWrites",
                "QuarryTestSupport",
            ],
            swiftSettings: settings),

        // A node that speaks dqlite's protocol over a file, with faults at chosen requests.
        .target(
            name: "QuarryClusterTestSupport", dependencies: ["CSQLite", "QuarryClusterWire"],
            path: "Tests/QuarryClusterTestSupport", swiftSettings: settings),
        .testTarget(
            name: "QuarryClusterTests",
            dependencies: [
                "Quarry", "QuarryAccess", "QuarryCaching", "QuarryChangesets", "QuarryCluster",
                "QuarryClusterTestSupport", "QuarryClusterWire", "QuarryCore", "QuarryDocuments",
                "QuarryIncrementalWrites", "QuarryOutbox", "QuarryRecovery", "QuarryTables", "QuarryTestSupport",
                "QuarryUntrustedSQL",
            ],
            swiftSettings: settings),

        .testTarget(
            name: "QuarryClusterWireTests", dependencies: ["QuarryClusterWire", "QuarryTestSupport"],
            swiftSettings: settings),

        // A connector and a listener on this machine.

        // The text of generated code, and its behaviour when it is compiled and run.
        .testTarget(
            name: "QuarryCodeGenerationTests", dependencies: ["Quarry", "QuarryCodeGeneration", "quarry-codegen"],
            swiftSettings: settings),

        // With logs, metrics and traces in memory.
        .testTarget(
            name: "QuarryInstrumentationTests",
            dependencies: ["Quarry", "QuarryInstrumentation"]
                + products(
                    [
                        "InMemoryLogging": "swift-log", "InMemoryTracing": "swift-distributed-tracing",
                        "Logging": "swift-log", "MetricsTestKit": "swift-metrics",
                        "ServiceLifecycle": "swift-service-lifecycle",
                        "ServiceLifecycleTestKit": "swift-service-lifecycle",
                        "UnixSignals": "swift-service-lifecycle",
                    ], trait: "Instrumentation"),
            swiftSettings: settings),

        // Programs written from GRDB's documentation. They are built as users would build them, without the
        // settings above; the package in Benchmarks builds the same files with GRDB.
        .testTarget(name: "QuarryCompatibilityTests", dependencies: ["Quarry"], exclude: ["Expected"]),

        // Failing disks, lost power, killed processes, exhausted memory.
        .testTarget(
            name: "QuarryFaultTests",
            dependencies: [
                "Quarry", "QuarryAccess", "QuarryDocuments", "QuarryIncrementalWrites", "QuarryOutbox",
                "QuarryRecovery", "QuarryShared", "QuarryTestProcess", "QuarryTestSupport",
            ],
            swiftSettings: settings),

        // Load: many tasks and threads for some time, and the resources they leave behind.
        .testTarget(
            name: "QuarryStressTests",
            dependencies: [
                "CMemoryUse", "Quarry", "QuarryAccess", "QuarryReplica", "QuarryShared", "QuarryTestSupport",
            ],
            swiftSettings: settings),
    ]
)
