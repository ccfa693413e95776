// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A separate package, so that users of Quarry alone resolve and build none of its dependencies.
let package = Package(
    name: "QuarryInstrumentation",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "QuarryInstrumentation", targets: ["QuarryInstrumentation"])
    ],
    dependencies: [
        .package(name: "Quarry", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Tracers that log, measure and trace; a service that runs and closes databases.
        .target(
            name: "QuarryInstrumentation",
            dependencies: [
                .product(name: "Quarry", package: "Quarry"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),

        // With logs, metrics and traces in memory.
        .testTarget(
            name: "QuarryInstrumentationTests",
            dependencies: [
                "QuarryInstrumentation",
                .product(name: "Quarry", package: "Quarry"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
    ]
)
