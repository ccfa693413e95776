// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "PackageCatalog",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "catalog", targets: ["catalog"]),
        .library(name: "PackageCatalog", targets: ["PackageCatalog"]),
    ],
    dependencies: [
        .package(name: "Quarry", path: "../..", traits: ["AllButTLS"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
    ],
    targets: [
        // The catalogue: control files, the model on its database, the import, the tables.
        .target(
            name: "PackageCatalog",
            dependencies: [
                .product(name: "Quarry", package: "Quarry"),
                .product(name: "QuarryIncrementalWrites", package: "Quarry"),
                .product(name: "QuarryRecovery", package: "Quarry"),
                .product(name: "QuarryCluster", package: "Quarry"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),

        // The command line around it.
        .executableTarget(
            name: "catalog",
            dependencies: ["PackageCatalog", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: settings),

        // In memory, on temporary files, and through the executable.
        .testTarget(
            name: "PackageCatalogTests",
            dependencies: [
                "PackageCatalog", "catalog", .product(name: "Quarry", package: "Quarry"),
                .product(name: "QuarryIncrementalWrites", package: "Quarry"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
    ]
)
