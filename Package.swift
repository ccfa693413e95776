// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Quarry",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Quarry", targets: ["Quarry"])
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

        // What users import: queues, pools and snapshots, and the conformances of Foundation's types.
        .target(name: "Quarry", dependencies: ["QuarryCore", "QuarrySQL"], swiftSettings: settings),

        // VFSs for tests: one whose operations fail on demand, one that records what is written, one whose syncs wait.
        .target(name: "CTestVFS", dependencies: ["CSQLite"], path: "Tests/CTestVFS"),

        // An allocator for SQLite that fails on demand, and the process of its own that it needs: tests start it, kill
        // it, and let many of it share a file.
        .target(name: "CFaultMalloc", dependencies: ["CSQLite"], path: "Tests/CFaultMalloc"),
        .executableTarget(
            name: "QuarryTestProcess", dependencies: ["CFaultMalloc", "Quarry"], path: "Tests/QuarryTestProcess",
            swiftSettings: settings),

        // The memory that the process uses, as its allocators count it.
        .target(name: "CMemoryUse", dependencies: ["CSQLite"], path: "Tests/CMemoryUse"),

        // Connections on temporary files, faults, schedules of named steps, seeded randomness.
        .target(
            name: "QuarryTestSupport", dependencies: ["CTestVFS", "Quarry", "QuarryCore", "QuarrySQL"],
            path: "Tests/QuarryTestSupport", swiftSettings: settings),

        // What must hold for any bytes; libFuzzer looks for others in a package of its own, Tests/Fuzzing.
        .target(
            name: "FuzzProperties", dependencies: ["Quarry"], path: "Tests/Fuzzing/Sources/FuzzProperties",
            swiftSettings: settings),
        .testTarget(
            name: "QuarryCoreTests", dependencies: ["QuarryCore", "QuarryTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "QuarrySQLTests", dependencies: ["QuarryCore", "QuarrySQL"],
            swiftSettings: settings),
        .testTarget(
            name: "QuarryTests", dependencies: ["CSQLite", "FuzzProperties", "Quarry", "QuarryTestSupport"],
            swiftSettings: settings),

        // Programs written from GRDB's documentation. They are built as their users would build them, so without the
        // settings above; the package in Benchmarks builds the same files with GRDB.
        .testTarget(name: "QuarryCompatibilityTests", dependencies: ["Quarry"], exclude: ["Expected"]),

        // Failing disks, lost power, killed processes, memory that is out.
        .testTarget(
            name: "QuarryFaultTests", dependencies: ["Quarry", "QuarryTestProcess", "QuarryTestSupport"],
            swiftSettings: settings),

        // Load: many tasks and threads for some time, and what they leave behind.
        .testTarget(
            name: "QuarryStressTests", dependencies: ["CMemoryUse", "Quarry", "QuarryTestSupport"],
            swiftSettings: settings),
    ]
)
