// swift-tools-version: 6.0
import PackageDescription

// A package that uses Firstlight's libraries, as users' do: from the folder that FIRSTLIGHT_PACKAGE names.
// scripts/run-library-tests builds it.
let firstlight = Context.environment["FIRSTLIGHT_PACKAGE"] ?? "../../.."

let package = Package(
    name: "dependent",
    dependencies: [.package(name: "firstlight", path: firstlight)],
    targets: [
        .executableTarget(
            name: "dependent",
            dependencies: [
                .product(name: "LaunchMetric", package: "firstlight"),
                .product(name: "Signpost", package: "firstlight"),
            ])
    ])
