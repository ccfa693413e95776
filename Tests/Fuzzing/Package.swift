// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// Scripts/fuzz builds it, and links the library with libFuzzer.
let package = Package(
    name: "Fuzzing",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "QuarryFuzz", type: .static, targets: ["QuarryFuzz"])
    ],
    dependencies: [
        .package(name: "Quarry", path: "../..")
    ],
    targets: [
        // Properties that hold for any bytes. The package's tests have this target too.
        .target(
            name: "FuzzProperties",
            dependencies: [
                .product(name: "Quarry", package: "Quarry"), .product(name: "QuarryCJKTokenizer", package: "Quarry"),
                .product(name: "QuarryCluster", package: "Quarry"),
                .product(name: "QuarryClusterWire", package: "Quarry"),
                .product(name: "QuarryRecovery", package: "Quarry"),
            ],
            swiftSettings: settings),

        // The entry point that libFuzzer calls.
        .target(name: "QuarryFuzz", dependencies: ["FuzzProperties"], swiftSettings: settings),
    ]
)
