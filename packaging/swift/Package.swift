// swift-tools-version: 6.3
import PackageDescription

// Firstlight's libraries by themselves, as they are installed in PREFIX/share/firstlight. They need
// nothing but Swift. Settings and targets are those of the package at the top of the repository.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "firstlight",
    products: [
        .library(name: "Signpost", targets: ["Signpost"]),
        .library(name: "LaunchMetric", targets: ["LaunchMetric"]),
    ],
    targets: [
        .target(name: "CSignpost"),
        .target(name: "Signpost", dependencies: ["CSignpost"], swiftSettings: settings),
        .target(name: "LaunchMetric", swiftSettings: settings),
    ],
    cLanguageStandard: .gnu17
)
