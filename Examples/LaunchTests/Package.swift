// swift-tools-version: 6.0
import PackageDescription

// How a package tests the launch of its program. Yours would name firstlight by its URL.
let package = Package(
    name: "LaunchTests",
    dependencies: [.package(name: "firstlight", path: "../..")],
    targets: [
        .executableTarget(name: "greeter"),
        .testTarget(
            name: "GreeterTests",
            dependencies: ["greeter", .product(name: "LaunchMetric", package: "firstlight")]),
    ])
