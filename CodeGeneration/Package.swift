// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "CodeGeneration",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "quarry-codegen", targets: ["quarry-codegen"]),
        .library(name: "CodeGeneration", targets: ["CodeGeneration"]),
    ],
    dependencies: [
        .package(name: "Quarry", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        // The schema of a database, the records made from it, and their text.
        .target(
            name: "CodeGeneration", dependencies: [.product(name: "Quarry", package: "Quarry")],
            swiftSettings: settings),

        // The command line around it.
        .executableTarget(
            name: "quarry-codegen",
            dependencies: [
                "CodeGeneration", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Quarry", package: "Quarry"),
            ],
            swiftSettings: settings),

        // The text, and its behaviour when it is compiled and run.
        .testTarget(
            name: "CodeGenerationTests",
            dependencies: ["CodeGeneration", "quarry-codegen", .product(name: "Quarry", package: "Quarry")],
            swiftSettings: settings),
    ]
)
