// swift-tools-version: 6.3
import PackageDescription

/// One set of settings for every Swift target: the taste of the project, mechanised.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// For the modules that never touch raw memory: every unsafe construct is a warning.
let pureSettings = settings + [.strictMemorySafety()]

/// For modules in which nothing takes long: they are compiled in a third of the time.
let plainSettings = settings + [.unsafeFlags(["-Onone"])]

/// For modules that are large and seldom busy: small code is compiled sooner.
let smallSettings = settings + [.unsafeFlags(["-Osize"])]

/// Tests are built for a release, together with what they test. They are not optimised: that would take
/// longer than it saves when they run. Nobody waits for their interfaces, so each is read by the compiler
/// once, not a second time for its interface alone.
let testSettings = settings + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])]

let package = Package(
    name: "firstlight",
    products: [
        .executable(name: "firstlight", targets: ["Firstlight"]),
        .library(name: "Signpost", targets: ["Signpost"]),
        .library(name: "LaunchMetric", targets: ["LaunchMetric"]),
    ],
    targets: [
        // What is x86-64's: its registers, call numbers, instructions, pages.
        .target(name: "Architecture", swiftSettings: pureSettings),

        // Pure values, shared by every stage.
        .target(name: "ProfileModel", dependencies: ["Architecture"], swiftSettings: pureSettings),

        // C where Swift cannot go, and the libraries that the system provides.
        .target(name: "CSystem"),
        // Its code is copied elsewhere: a table beside it would not be there, and room is short. What
        // tests run is what programs get.
        .target(name: "CAgent", cSettings: [.unsafeFlags(["-fno-jump-tables", "-O2"])]),
        .target(name: "CPrefetch"),
        // Files that are part of the program.
        .target(name: "CResources"),
        // Load their libraries themselves.
        .target(name: "CLibunwind"),
        .target(name: "CXCB"),
        .target(name: "CSignpost"),
        // Without their pkg-config: SwiftPM would warn whoever depends on Signpost or LaunchMetric of all
        // that is missing there. Their module maps name what is linked.
        .systemLibrary(name: "CElfutils"),
        .systemLibrary(name: "CLZMA"),
        .systemLibrary(name: "CCapstone"),
        .systemLibrary(name: "CZlib"),
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "CZstd"),

        // Threads, clocks, and files that are read and written whole.
        .target(
            name: "System", dependencies: ["ProfileModel", "CSystem"], swiftSettings: settings),

        // gzip's format, for what leaves as a file or over the network.
        .target(name: "Compression", dependencies: ["CZlib"], swiftSettings: settings),

        // ELF files: headers, sections, notes, symbols.
        .target(
            name: "ELF", dependencies: ["ProfileModel", "System", "CSystem", "CElfutils"],
            swiftSettings: settings),
        // What Go's own tables say, for unwinding and for names.
        .target(name: "GoTables", dependencies: ["ELF"], swiftSettings: settings),
        // The running kernel's code and symbols, for frames and for names.
        .target(
            name: "KernelTables", dependencies: ["ProfileModel", "System", "ELF"],
            swiftSettings: settings),

        // Interpreters' own frames: finding them, copying them, naming them. A folder for each language.
        .target(
            name: "Runtimes", dependencies: ["Architecture", "ProfileModel"],
            swiftSettings: pureSettings),

        // The only way to other processes: /proc, ptrace, memory, the scheduler's account, the clock.
        .target(
            name: "ProcessIO",
            dependencies: ["Architecture", "ProfileModel", "System", "CSystem", "CAgent"],
            swiftSettings: settings),

        // When a launch is over: what `--until` waits for.
        .target(
            name: "Readiness",
            dependencies: [
                "Architecture", "ProfileModel", "System", "CSystem", "CXCB", "ProcessIO",
            ],
            swiftSettings: settings),

        // Programs in memory: what the dynamic linker and the kernel mapped.
        .target(
            name: "Images",
            dependencies: [
                "Architecture", "ProfileModel", "System", "CSystem", "ELF", "ProcessIO",
            ],
            swiftSettings: settings),
        // Our code in the program: its memory, entry, hooks, marks' jumps, signposts.
        .target(
            name: "Agent",
            dependencies: [
                "Architecture", "ProfileModel", "System", "CSystem", "CAgent", "CSignpost", "ELF",
                "ProcessIO", "Images",
            ],
            swiftSettings: settings),
        // Launches that are started, measured and watched, without samples.
        .target(
            name: "Launching",
            dependencies: [
                "Architecture", "ProfileModel", "System", "CSystem", "CAgent", "ProcessIO",
                "Readiness", "Images", "Agent",
            ],
            swiftSettings: settings),

        // The stages, in the order in which a sample meets them.
        .target(
            name: "Sampler",
            dependencies: [
                "Architecture",
                "ProfileModel", "System", "CSystem", "CAgent", "ELF",
                "Runtimes", "ProcessIO", "Readiness", "Images", "Agent", "Launching",
            ],
            swiftSettings: settings),
        // What recording needs of a machine, tried: the facts behind `firstlight doctor`.
        .target(
            name: "Doctor",
            dependencies: [
                "Architecture", "ProfileModel", "System", "CSystem", "ProcessIO",
                "Launching",
                "Sampler",
            ],
            swiftSettings: settings),
        // Under what conditions a program is launched, and cleaning up behind it.
        .target(
            name: "Conditions",
            dependencies: ["Architecture", "ProfileModel", "System", "CSystem", "ELF"],
            swiftSettings: smallSettings),
        .target(
            name: "Unwind",
            dependencies: [
                "Architecture",
                "ProfileModel", "System", "CElfutils", "CLibunwind", "CPrefetch", "ELF", "GoTables",
            ],
            swiftSettings: settings),
        .target(
            name: "PerfData", dependencies: ["Architecture", "ProfileModel", "System", "CZstd"],
            swiftSettings: settings),
        .target(
            name: "Recording", dependencies: ["ProfileModel", "System", "CSQLite", "CZlib"],
            swiftSettings: settings),
        .target(
            name: "Symbolicate",
            dependencies: [
                "Architecture",
                "ProfileModel", "System", "CElfutils", "CLZMA", "ELF", "GoTables", "KernelTables",
                "Runtimes",
            ],
            swiftSettings: settings, linkerSettings: [.linkedLibrary("iberty")]),
        .target(
            name: "Marks",
            dependencies: ["Architecture", "ProfileModel", "ELF", "Symbolicate", "CCapstone"],
            swiftSettings: settings),
        .target(
            name: "Recorder",
            dependencies: [
                "Architecture",
                "ProfileModel", "System", "ProcessIO", "Readiness", "Agent", "Launching", "Sampler",
                "Unwind", "Recording",
                "KernelTables", "Runtimes",
            ],
            swiftSettings: settings),
        .target(
            name: "Importer",
            dependencies: ["ProfileModel", "System", "Unwind", "Recording", "PerfData"],
            swiftSettings: settings),
        .target(
            name: "Analysis", dependencies: ["Architecture", "ProfileModel"],
            swiftSettings: pureSettings),
        .target(
            name: "Measurer", dependencies: ["ProfileModel"],
            swiftSettings: smallSettings + [.strictMemorySafety()]),
        // A profile in other viewers' formats, and how all output writes numbers, JSON and folded stacks.
        .target(
            name: "Exports", dependencies: ["Architecture", "ProfileModel", "Analysis"],
            swiftSettings: pureSettings),
        .target(
            name: "Report",
            dependencies: ["Architecture", "ProfileModel", "Analysis", "Exports", "CResources"],
            exclude: ["HTML/Page"], swiftSettings: plainSettings + [.strictMemorySafety()]),
        // Sends what is known of launches to servers.
        .target(
            name: "Shipping", dependencies: ["ProfileModel", "System"], swiftSettings: smallSettings
        ),
        // A fleet's launches in a ClickHouse database: writes them, and asks.
        .target(
            name: "ClickHouse",
            dependencies: ["ProfileModel", "Compression", "Analysis", "Shipping", "CResources"],
            exclude: ["SQL"], swiftSettings: smallSettings),
        .target(
            name: "ProfileCLI",
            dependencies: [
                "Architecture", "ProfileModel", "System", "CSystem", "Compression", "ELF",
                "Runtimes", "ProcessIO", "Readiness", "Agent", "Launching", "Sampler", "Doctor",
                "Conditions", "Unwind", "Marks", "PerfData", "Recording", "Symbolicate", "Recorder",
                "Importer", "Analysis", "Measurer", "Exports", "Report", "Shipping", "ClickHouse",
            ],
            swiftSettings: plainSettings),

        // The program needs no Swift where it runs. Only how it is linked says so: what is compiled for it
        // serves tests, too. Nobody looks its symbols up at run time.
        .executableTarget(
            name: "Firstlight", dependencies: ["ProfileCLI"], swiftSettings: settings,
            linkerSettings: [
                .unsafeFlags(["-static-stdlib", "-Xlinker", "--no-export-dynamic"])
            ]),

        // What programs use to say where their time goes. Nothing of ours uses it.
        .target(name: "Signpost", dependencies: ["CSignpost"], swiftSettings: settings),

        // What tests use to measure a launch, by the firstlight that is installed. Nothing of ours uses
        // it.
        .target(name: "LaunchMetric", swiftSettings: settings),

        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: testSettings),
        // Recordings that tests make by hand.
        .target(
            name: "MadeRecordings", dependencies: ["ProfileModel", "TestSupport"],
            path: "Tests/MadeRecordings", swiftSettings: testSettings),
        .testTarget(
            name: "ArchitectureTests", dependencies: ["Architecture", "CSystem", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "ProfileModelTests",
            dependencies: ["Architecture", "ProfileModel", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "SystemTests", dependencies: ["ProfileModel", "System", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "ELFTests", dependencies: ["ELF", "CElfutils", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "KernelTablesTests", dependencies: ["ProfileModel", "KernelTables"],
            swiftSettings: testSettings),
        .testTarget(
            name: "UnwindTests",
            dependencies: [
                "Architecture",
                "ProfileModel", "Unwind", "CElfutils", "ELF", "GoTables", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "RuntimesTests",
            dependencies: [
                "Architecture", "ProfileModel", "Runtimes", "CSystem", "ELF", "TestSupport",
            ],
            exclude: ["Python/Subject", "Python/Tables"], swiftSettings: testSettings),
        .testTarget(
            name: "PerfDataTests",
            dependencies: ["Architecture", "ProfileModel", "PerfData", "TestSupport"],
            exclude: ["Files", "record-files"], swiftSettings: testSettings),
        .testTarget(
            name: "SymbolicateTests",
            dependencies: ["ProfileModel", "Runtimes", "ELF", "Symbolicate", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "MarksTests",
            dependencies: ["Architecture", "ProfileModel", "Marks", "Symbolicate", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "RecordingTests",
            dependencies: ["ProfileModel", "Recording", "CSQLite", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "AnalysisTests",
            dependencies: ["ProfileModel", "Analysis", "MadeRecordings", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "MeasurerTests", dependencies: ["ProfileModel", "Measurer"],
            swiftSettings: testSettings),
        .testTarget(
            name: "LaunchMetricTests", dependencies: ["LaunchMetric"],
            exclude: ["made-firstlight"], swiftSettings: testSettings),
        .testTarget(
            name: "ShippingTests", dependencies: ["ProfileModel", "Shipping", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "ClickHouseTests", dependencies: ["Shipping", "ClickHouse"],
            swiftSettings: testSettings),
        .testTarget(
            name: "ReportTests",
            dependencies: [
                "ProfileModel", "Analysis", "Exports", "Report", "MadeRecordings", "TestSupport",
            ],
            exclude: ["Snapshots"], swiftSettings: testSettings),
        .testTarget(
            name: "ProfileCLITests",
            dependencies: [
                "ProfileCLI", "ProfileModel", "ELF", "ProcessIO", "Readiness", "Images", "Agent",
                "Launching", "Sampler", "Doctor",
                "Recording", "Symbolicate", "Recorder", "Analysis", "Measurer", "Report",
                "Shipping",
                "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "SamplerTests",
            dependencies: [
                "Architecture",
                "ProfileModel", "System", "ProcessIO", "Readiness", "Images", "Agent", "Launching",
                "Sampler", "Doctor", "Analysis",
                "Conditions", "Marks", "Signpost",
                "Runtimes", "CAgent", "CSignpost", "CSystem", "CXCB", "TestSupport",
            ],
            exclude: ["Wayland/Streams", "Wayland/record-streams"], swiftSettings: testSettings),
        .testTarget(
            name: "ConditionsTests",
            dependencies: [
                "ProfileModel", "Conditions", "ProcessIO", "Images", "Agent", "Launching",
                "Sampler", "CSystem", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "RecorderTests",
            dependencies: [
                "Architecture",
                "ProfileModel", "System", "ProcessIO", "Readiness", "Images", "Agent", "Launching",
                "Sampler", "Unwind", "Recorder",
                "Recording", "CSystem", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "ImporterTests",
            dependencies: ["ProfileModel", "PerfData", "Importer", "Recording", "TestSupport"],
            swiftSettings: testSettings),
        // Runs the installed program, for the tests and for `make truth`.
        .target(
            name: "EndToEndSupport", dependencies: ["TestSupport"], path: "Tests/EndToEndSupport",
            swiftSettings: testSettings),
        .testTarget(
            name: "EndToEndTests", dependencies: ["EndToEndSupport", "TestSupport"],
            swiftSettings: testSettings),
        // What `make truth` runs: figures compared with clocks and with other tools.
        .testTarget(
            name: "TruthTests", dependencies: ["EndToEndSupport", "TestSupport"],
            swiftSettings: testSettings),
    ],
    cLanguageStandard: .gnu17
)

// What `make bench` runs, which sets the variable: nobody else has to build it.
if Context.environment["FIRSTLIGHT_BENCH"] != nil {
    func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
        .executableTarget(
            name: "\(name)Benchmark", dependencies: dependencies,
            path: "Benchmarks/\(name)Benchmark", swiftSettings: settings,
            linkerSettings: [.unsafeFlags(["-static-stdlib"])])
    }
    package.targets += [
        benchmark("Unwind", ["Architecture", "ProfileModel", "PerfData", "Unwind"]),
        benchmark("Symbolicate", ["ProfileModel", "Symbolicate"]),
        benchmark("Gate", ["Analysis"]),
    ]
}

// For libFuzzer, which needs its flags: `make fuzz` sets the variable (docs/fuzzing.md).
if Context.environment["FIRSTLIGHT_FUZZ"] != nil {
    package.targets += [
        .target(name: "CFuzz", path: "Fuzz/CFuzz"),
        .target(
            name: "FuzzSupport", dependencies: ["ProfileModel", "Analysis", "Report", "CFuzz"],
            path: "Fuzz/Support", swiftSettings: settings),
        .executableTarget(
            name: "FuzzTargets",
            dependencies: [
                "Architecture", "ProfileModel", "System", "CSystem", "CAgent", "CSQLite",
                "ProcessIO", "Readiness", "Images", "Agent", "Launching", "Sampler", "Unwind",
                "Recording", "Importer", "Symbolicate", "FuzzSupport", "CFuzz",
            ],
            path: "Fuzz/Targets", swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]),
    ]
}
