// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let server: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "ArgumentParser", package: "swift-argument-parser"),
    .product(name: "NIOCore", package: "swift-nio"),
]

// A separate package, so that neither the web server nor the peer ever enters Quarry's dependencies.
let package = Package(
    name: "HTTPLoad",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "http-load", targets: ["http-load"]),
        .executable(name: "quarry-server", targets: ["quarry-server"]),
        .executable(name: "grdb-server", targets: ["grdb-server"]),
    ],
    dependencies: [
        .package(name: "Quarry", path: "../..", traits: ["AllButTLS"]),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
    ],
    targets: [
        // One source for both, SharedServer, by symbolic links: only the import differs.
        .executableTarget(
            name: "quarry-server", dependencies: server + [.product(name: "Quarry", package: "Quarry")],
            swiftSettings: settings + [.define("HTTP_LOAD_QUARRY")]),
        .executableTarget(
            name: "grdb-server", dependencies: server + [.product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),

        // Starts servers, and loads them with wrk and with readers of event streams.
        .executableTarget(
            name: "http-load",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
    ]
)
