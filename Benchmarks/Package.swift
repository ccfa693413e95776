// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A separate package, so that the peers never enter Quarry's dependencies.
let package = Package(
    name: "QuarryBenchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "quarry-bench", targets: ["quarry-bench"]),
        .executable(name: "quarry-allocations", targets: ["quarry-allocations"]),
        .executable(name: "quarry-scaling", targets: ["quarry-scaling"]),
        .executable(name: "quarry-processes", targets: ["quarry-processes"]),
        .executable(name: "quarry-writes", targets: ["quarry-writes"]),
        .executable(name: "quarry-tenants", targets: ["quarry-tenants"]),
        .executable(name: "grdb-programs", targets: ["grdb-programs"]),
    ],
    dependencies: [
        .package(name: "Quarry", path: "..", traits: ["AllButTLS"]),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        // The system's SQLite for the C side, independent of the module that Quarry uses.
        .systemLibrary(
            name: "CSQLiteBench", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),

        // Counts the allocations of the whole process while it is enabled.
        .target(name: "CMallocCounter"),

        // The rows with their budgets, the harness, statistics and tables.
        .target(name: "BenchSupport", dependencies: ["CMallocCounter"], swiftSettings: settings),

        // A module for each peer, because their names clash.
        .target(name: "CWorkloads", dependencies: ["BenchSupport", "CSQLiteBench"], swiftSettings: settings),
        .target(
            name: "GRDBWorkloads",
            dependencies: ["BenchSupport", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(
            name: "QuarryWorkloads",
            dependencies: [
                "BenchSupport", .product(name: "Quarry", package: "Quarry"),
                .product(name: "QuarryCaching", package: "Quarry"),
                .product(name: "QuarryIncrementalWrites", package: "Quarry"),
            ],
            swiftSettings: settings + [.define("BENCH_QUARRY")]),

        .executableTarget(
            name: "quarry-bench",
            dependencies: [
                "BenchSupport", "CWorkloads", "GRDBWorkloads", "QuarryWorkloads",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // The product that CI builds and runs, without GRDB.
        .executableTarget(
            name: "quarry-allocations", dependencies: ["BenchSupport", "CWorkloads", "QuarryWorkloads"],
            swiftSettings: settings),
        .executableTarget(
            name: "quarry-scaling",
            dependencies: [
                "BenchSupport", "CSQLiteBench", .product(name: "Quarry", package: "Quarry"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // Two processes on one file.
        .executableTarget(
            name: "quarry-processes",
            dependencies: [
                .product(name: "Quarry", package: "Quarry"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // A folder of many databases.
        .executableTarget(
            name: "quarry-tenants",
            dependencies: [
                .product(name: "Quarry", package: "Quarry"),
                .product(name: "QuarryShared", package: "Quarry"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // Durable writes of many tasks.
        .executableTarget(
            name: "quarry-writes",
            dependencies: [
                "CSQLiteBench", "GRDBWorkloads", "QuarryWorkloads",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // The programs of Tests/QuarryCompatibilityTests, with GRDB.
        .executableTarget(
            name: "grdb-programs", dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: [.define("GRDB_PROGRAMS")]),
    ]
)
