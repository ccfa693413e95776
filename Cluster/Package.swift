// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Cluster",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "quarry-node", targets: ["quarry-node"]),
        .executable(name: "cluster-bench", targets: ["cluster-bench"]),
        .library(name: "ClusterNode", targets: ["ClusterNode"]),
    ],
    dependencies: [
        .package(name: "Quarry", path: "..", traits: ["ClusterTLS"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // The system's dqlite.
        .systemLibrary(name: "CDQLite", pkgConfig: "dqlite", providers: [.apt(["libdqlite-dev"])]),

        // A node of a cluster, the connections to it, and its membership.
        .target(
            name: "ClusterNode",
            dependencies: [
                "CDQLite",
                .product(name: "QuarryClusterTLS", package: "Quarry"),
                .product(name: "QuarryClusterWire", package: "Quarry"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),

        // The command line around it.
        .executableTarget(
            name: "quarry-node",
            dependencies: [
                "ClusterNode",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "QuarryClusterTLS", package: "Quarry"),
                .product(name: "QuarryClusterWire", package: "Quarry"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),

        // Nodes as processes, for tests.
        .target(
            name: "ClusterTestSupport",
            dependencies: [
                "ClusterNode", .product(name: "QuarryClusterTLS", package: "Quarry"),
                .product(name: "QuarryClusterWire", package: "Quarry"),
            ],
            path: "Tests/ClusterTestSupport",
            swiftSettings: settings),
        .testTarget(
            name: "ClusterNodeTests",
            dependencies: [
                "ClusterNode", "ClusterTestSupport", "quarry-node",
                .product(name: "Quarry", package: "Quarry"),
                .product(name: "QuarryCluster", package: "Quarry"),
                .product(name: "QuarryClusterTLS", package: "Quarry"),
                .product(name: "QuarryClusterWire", package: "Quarry"),
            ],
            swiftSettings: settings),

        // DatabaseCluster on real nodes.
        .executableTarget(
            name: "ClusterTestClient",
            dependencies: [
                .product(name: "Quarry", package: "Quarry"), .product(name: "QuarryCluster", package: "Quarry"),
            ],
            path: "Tests/ClusterTestClient", swiftSettings: settings),
        .testTarget(
            name: "ClusterDatabaseTests",
            dependencies: [
                "ClusterNode", "ClusterTestClient", "ClusterTestSupport", "quarry-node",
                .product(name: "Quarry", package: "Quarry"), .product(name: "QuarryCluster", package: "Quarry"),
                .product(name: "QuarryClusterTLS", package: "Quarry"),
            ],
            swiftSettings: settings),

        // TLS without nodes.
        .testTarget(
            name: "ClusterTLSTests",
            dependencies: ["ClusterTestSupport", .product(name: "QuarryClusterTLS", package: "Quarry")],
            swiftSettings: settings),

        // DatabaseCluster beside another client, at the same nodes.
        .executableTarget(
            name: "cluster-bench",
            dependencies: [
                "ClusterNode", "ClusterTestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Quarry", package: "Quarry"), .product(name: "QuarryCluster", package: "Quarry"),
            ],
            path: "Benchmarks/cluster-bench", swiftSettings: settings),
    ]
)
