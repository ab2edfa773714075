import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Initialisers, libraries, and the main thread's computing.
@Suite struct CodeFindingTests {
    private typealias Spot = RecordingBuilder.Spot
    private static let library = FindingLaunch.library
    private static let initializer = Spot(
        "_GLOBAL__sub_I_slow.cpp", library, file: "/src/slow.cpp", line: 90)
    private static let warmUp = Spot("warmUp", library, file: "/src/slow.cpp", line: 12)
    private static let train = Spot("train", library, file: "/src/slow.cpp", line: 20)

    // MARK: Initialisers

    /// An initialiser from 20 ms on, all of it `cpu`.
    private func initialising(for length: Int64, cpu: Int64? = nil) -> FindingLaunch {
        var launch = FindingLaunch()
        launch.load(at: 3)
        launch.builder.initializer(
            Self.initializer, launch.main, from: 20, to: 20 + length, cpu: cpu ?? length)
        let path = [Spot("_start", "/lib64/ld.so"), Self.initializer, Self.warmUp]
        for time in 0..<length {
            let leaf = time < 3 ? "format" : "train"
            launch.run(
                launch.main, at: 20 + time, running: 1,
                in: path + [Spot(leaf, Self.library)])
        }
        launch.computeABit()
        return launch
    }

    @Test func aHeavyInitialiser() throws {
        let launch = initialising(for: 60)
        let profile = launch.profile
        let finding = try #require(launch.findings.first)
        #expect(launch.findings.count == 1)
        #expect(finding.saving == .milliseconds(60))
        // Not what the compiler made, and not a part of the work.
        #expect(profile.name(of: finding) == "warmUp")
        #expect(
            finding.stack.map { profile.frames.function(of: $0).name }
                == ["_GLOBAL__sub_I_slow.cpp", "warmUp", "train"])
        #expect(profile.phase(of: finding).map { profile.phases[$0].name } == "Static initialisers")
        guard case .initializer(let evidence) = finding.subject else {
            Issue.record("\(finding.subject)")
            return
        }
        #expect(evidence.cpu == .milliseconds(60) && evidence.wall == .milliseconds(60))
        #expect(evidence.file == "/src/slow.cpp" && evidence.line == 90)
        #expect(evidence.module == "libslow.so" && evidence.isUnused)
    }

    /// The time after the last look into a function is the caller's own time, not that function's
    /// work.
    @Test func aCallerOfTheWorkIsNotTheWorker() throws {
        var launch = FindingLaunch()
        launch.load(at: 3)
        launch.builder.initializer(Self.warmUp, launch.main, from: 20, to: 61, cpu: 41)
        let path = [Spot("_start", "/lib64/ld.so"), Self.warmUp, Self.train]
        for time in 0..<40 as Range<Int64> {
            launch.run(launch.main, at: 20 + time, running: 1, in: path)
        }
        launch.run(launch.main, at: 60, running: 2, in: [Spot("_start", "/lib64/ld.so")])
        launch.computeABit()
        let finding = try #require(launch.findings.first)
        #expect(launch.profile.name(of: finding) == "train")
    }

    @Test func aLightOneIsNone() {
        #expect(initialising(for: 20).findings.map(\.kind) == [.initializer])
        #expect(initialising(for: 19).findings.isEmpty)
        // It was long only because others had the core.
        #expect(initialising(for: 60, cpu: 19).findings.isEmpty == false)
    }

    @Test func timeWithoutACoreDoesNotCount() {
        var launch = FindingLaunch()
        launch.builder.initializer(Self.initializer, launch.main, from: 20, to: 80, cpu: 19)
        let stack = launch.builder.stack([Self.initializer])
        launch.builder.slice(launch.main, at: 20, running: 19, preempted: 41, stack)
        #expect(launch.findings.isEmpty)
    }

    @Test func aUsedLibraryIsNotCalledUnused() throws {
        var launch = initialising(for: 60)
        launch.run(
            launch.main, at: 850, running: 10,
            in: FindingLaunch.entry + [Spot("log", Self.library)])
        let finding = try #require(launch.findings.first)
        guard case .initializer(let evidence) = finding.subject else {
            Issue.record("\(finding.subject)")
            return
        }
        #expect(!evidence.isUnused)
    }

    @Test func withoutStacksTheInitialiserItselfIsThePlace() {
        var launch = FindingLaunch()
        launch.builder.initializer(Self.initializer, launch.main, from: 20, to: 60, cpu: 40)
        launch.run(launch.main, at: 20, running: 40, in: [Spot("other")])
        #expect(launch.findings.map(launch.profile.name) == ["_GLOBAL__sub_I_slow.cpp"])
    }

    @Test func aWaitOfAnInitialiserIsOneFinding() {
        var launch = FindingLaunch()
        launch.builder.initializer(Self.initializer, launch.main, from: 20, to: 90, cpu: 30)
        launch.run(
            launch.main, at: 20, running: 30, in: [Self.initializer])
        launch.wait(WaitReason(.sleep), from: 50, to: 90)
        #expect(launch.findings.map(\.kind) == [.sleep, .initializer])
        #expect(launch.findings.map(\.saving) == [.milliseconds(40), .milliseconds(30)])
    }

    // MARK: dlopen

    private static let caller =
        FindingLaunch.entry + [Spot("loadPlugins", file: "/src/plugins.c", line: 5)]
        + [Spot("dlopen", FindingLaunch.libc)]

    private func loading(for length: Int64, caller: [RecordingBuilder.Spot]) -> FindingLaunch {
        var launch = FindingLaunch()
        launch.computeABit()
        launch.load(at: 850, wall: length / 2, caller: caller)
        launch.load("/home/dev/libnext.so", at: 850 + length / 2, wall: length / 2, caller: caller)
        launch.run(
            launch.main, at: 850, running: length,
            in: FindingLaunch.entry + [Spot("_dl_map", FindingLaunch.libc)])
        return launch
    }

    @Test func librariesThatOneFunctionLoadsAreOneFinding() throws {
        let launch = loading(for: 40, caller: Self.caller)
        let finding = try #require(launch.findings.first)
        #expect(launch.findings.count == 1 && finding.saving == .milliseconds(40))
        #expect(launch.profile.name(of: finding) == "loadPlugins")
        guard case .dlopen(let evidence) = finding.subject else {
            Issue.record("\(finding.subject)")
            return
        }
        #expect(evidence.paths == [Self.library, "/home/dev/libnext.so"])
        #expect(loading(for: 20, caller: Self.caller).findings.map(\.kind) == [.dlopen])
        #expect(loading(for: 18, caller: Self.caller).findings.isEmpty)
    }

    @Test func anotherThreadMayLoadWhatItLikes() {
        #expect(loading(for: 40, caller: [Spot("start_thread")] + Self.caller).findings.isEmpty)
        #expect(loading(for: 40, caller: []).findings.isEmpty)
    }

    // MARK: Libraries

    /// Two initialisers, neither of which is heavy.
    private func unused(_ length: Int64) -> FindingLaunch {
        var launch = FindingLaunch()
        launch.load(at: 3)
        let second = Spot("init_b", Self.library, file: "/src/b.c", line: 2)
        launch.builder.initializer(Self.initializer, launch.main, from: 20, to: 31, cpu: 11)
        launch.builder.initializer(second, launch.main, from: 31, to: 20 + length, cpu: length - 11)
        launch.run(launch.main, at: 20, running: length, in: [second])
        launch.computeABit()
        return launch
    }

    @Test func anUnusedLibraryWithManyInitialisers() throws {
        let launch = unused(20)
        let finding = try #require(launch.findings.first)
        #expect(finding.subject == .unusedLibrary(Self.library, isLinkedForNothing: false))
        #expect(finding.saving == .milliseconds(20))
        #expect(launch.profile.name(of: finding) == "_GLOBAL__sub_I_slow.cpp")
        #expect(unused(19).findings.isEmpty)
    }

    @Test func aUsedOneIsNone() {
        var launch = unused(20)
        launch.run(
            launch.main, at: 850, running: 10, in: [Self.warmUp])
        #expect(launch.findings.isEmpty)
    }

    // MARK: Work

    /// `share` ms in `prepare`, the rest up to `whole` in twenty functions.
    private func working(_ share: Int64, of whole: Int64) -> FindingLaunch {
        var launch = FindingLaunch()
        let path = FindingLaunch.entry + [Spot("frame", file: "/src/f.c", line: 1)]
        for time in 0..<whole {
            let leaf =
                time < share
                ? [
                    Spot("show"), Spot("prepare", file: "/src/f.c", line: 7),
                    Spot(time % 50 == 0 ? "draw" : "layOut"),
                ]
                : [Spot("part\(time % 20)")]
            launch.run(
                launch.main, at: 110 + time, running: 1, in: path + leaf)
        }
        return launch
    }

    @Test func oneJobOfTheMainThread() throws {
        let launch = working(400, of: 800)
        let finding = try #require(launch.findings.first)
        #expect(launch.findings.count == 1)
        guard case .mainThreadWork(.zero, let mostly) = finding.subject else {
            Issue.record("\(finding.subject)")
            return
        }
        #expect(mostly.map { launch.profile.frames.function(of: $0).name } == "layOut")
        #expect(finding.saving == .milliseconds(400))
        #expect(finding.range == .milliseconds(110)..<(.milliseconds(510)))
        // All jobs are called by `frame`; `show` only passes this one on, and `layOut` is a part.
        #expect(launch.profile.name(of: finding) == "prepare")
        let names = finding.stack.map { launch.profile.frames.function(of: $0).name }
        #expect(names.suffix(4) == ["frame", "show", "prepare", "layOut"])
    }

    /// A function that initialisers also call counts as `main`'s work where `main` calls it.
    @Test func theSameFunctionCalledByOthersIsNoPart() throws {
        var launch = working(400, of: 800)
        let prepare = Spot("prepare", file: "/src/f.c", line: 7)
        launch.run(launch.main, at: 20, running: 1, in: [Spot("start_up"), prepare])
        let finding = try #require(launch.findings.first)
        #expect(launch.profile.name(of: finding) == "prepare")
        #expect(finding.range == .milliseconds(110)..<(.milliseconds(510)))
    }

    @Test func aSmallPartIsNone() {
        #expect(working(200, of: 800).findings.map(\.kind) == [.mainThreadWork])
        #expect(working(199, of: 800).findings.isEmpty)
    }

    @Test func aProgramThatComputesLittleHasNone() {
        #expect(working(200, of: 600).findings.map(\.kind) == [.mainThreadWork])
        #expect(working(249, of: 599).findings.isEmpty)
        // A quarter of the launch is worth a look, whatever else it computes.
        #expect(working(250, of: 599).findings.map(\.kind) == [.mainThreadWork])
    }

    @Test func whereAllIsOneJobItIsTheInnermost() {
        let launch = working(800, of: 800)
        #expect(launch.findings.map(launch.profile.name) == ["layOut"])
        // Many parts are no job.
        #expect(working(0, of: 800).findings.isEmpty)
    }

    /// `share` ms in code of the developer's, called by a script, the rest up to 640 in what that code
    /// imports, and a little elsewhere.
    private func importing(besides share: Int64, in code: [Spot]) -> FindingLaunch {
        var launch = FindingLaunch()
        let script = FindingLaunch.entry + [.python("<module>", "/home/dev/app.py")]
        for time in 0..<640 as Range<Int64> {
            let leaf =
                time < share
                ? [] : [Spot.imported("numpy"), .python("f\(time % 20)", "/usr/lib/numpy.py")]
            launch.run(launch.main, at: 110 + time, running: 1, in: script + code + leaf)
        }
        for time in 640..<800 as Range<Int64> {
            let leaf = Spot.python("g\(time % 20)", "/home/dev/app.py")
            launch.run(launch.main, at: 110 + time, running: 1, in: script + [leaf])
        }
        return launch
    }

    @Test(arguments: [[], [RecordingBuilder.Spot.python("load", "/home/dev/app.py")]])
    func importsAreNoWorkOfWhatImports(code: [RecordingBuilder.Spot]) throws {
        let kind = Finding.Kind.mainThreadWork
        #expect(!importing(besides: 100, in: code).findings.map(\.kind).contains(kind))
        let launch = importing(besides: 300, in: code)
        let found = launch.findings.filter { $0.kind == kind }
        #expect(found.map(launch.profile.name) == [code.isEmpty ? "<module>" : "load"])
        let finding = try #require(found.first)
        #expect(finding.subject == .mainThreadWork(withoutCore: .zero))
        #expect(finding.saving == .milliseconds(300))
        let names = finding.stack.map { launch.profile.frames.function(of: $0).name }
        #expect(!names.contains("import numpy"), "\(names)")
    }

    /// The developer's own module, imported by another, has most of the script's work.
    @Test func anImportOfAJobMayBeAJob() throws {
        var launch = FindingLaunch()
        let imports = [
            Spot.python("<module>", "/home/dev/app.py"), .imported("router"),
            .python("<module>", "/home/dev/router.py"), .imported("validators"),
            .python("<module>", "/home/dev/validators.py"), Spot("match", FindingLaunch.libc),
        ]
        for time in 0..<640 as Range<Int64> {
            let stack = time < 500 ? imports : [Spot("init\(time % 20)", FindingLaunch.libc)]
            launch.run(launch.main, at: 110 + time, running: 1, in: FindingLaunch.entry + stack)
        }
        let found = launch.findings.filter { $0.kind == .mainThreadWork }
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.saving == .milliseconds(500))
        let names = finding.stack.map { launch.profile.frames.function(of: $0).name }
        #expect(names.suffix(3) == ["import validators", "<module>", "match"], "\(names)")
    }

    /// Initialisers that were not watched are stacks like any other.
    @Test func codeBeforeMainIsNoPartOfMain() {
        var launch = working(0, of: 600)
        for time in 20..<100 as Range<Int64> {
            launch.run(launch.main, at: time, running: 1, in: [Spot("_dl_start", "/lib/ld.so")])
        }
        #expect(launch.findings.isEmpty)
    }

    @Test func anAttachedProgramIsLaunchedAlready() {
        var launch = FindingLaunch(attached: true)
        launch.compute(launch.main, "serve", from: 100, to: 900)
        #expect(launch.findings.isEmpty)
    }

    @Test func theSystemsCodeIsNotTheDevelopers() {
        var launch = FindingLaunch()
        let stack = launch.builder.stack([Spot("main", "/usr/bin/gzip")])
        for time in 0..<800 as Range<Int64> {
            launch.builder.slice(launch.main, at: 110 + time, running: 1, stack)
        }
        #expect(launch.findings.isEmpty)
    }

    /// The users of a program without own code also want to know what it does.
    @Test func withoutOwnCodeItIsTheFunctionThatMostIsIn() throws {
        var launch = FindingLaunch()
        let file = "/usr/bin/gimp"
        let path = [Spot("main", file), Spot("restore", file), Spot("initTables", file)]
        for time in 0..<800 as Range<Int64> {
            let leaf = time < 500 ? [Spot("table\(time % 20)", file)] : []
            launch.run(
                launch.main, at: 110 + time, running: 1,
                in: Array(path.prefix(time < 500 ? 3 : 2)) + leaf)
        }
        let finding = try #require(launch.findings.first)
        #expect(finding.subject == .mainThreadWork(withoutCore: .zero))
        #expect(launch.profile.name(of: finding) == "initTables")
    }

    /// The kernel's work for the developer's own code is named by the call.
    @Test(arguments: [(300, "read"), (100, nil)] as [(Int64, String?)])
    func kernelWorkIsNamedByItsCall(reading: Int64, inner: String?) throws {
        var launch = FindingLaunch()
        let load = FindingLaunch.entry + [Spot("load", file: "/src/load.c", line: 4)]
        let read = [Spot("read", FindingLaunch.libc), Spot("ksys_read", "[kernel]")]
        for time in 0..<700 as Range<Int64> {
            let spots =
                time < reading ? load + read : time < 400 ? load : FindingLaunch.entry
            launch.run(launch.main, at: 110 + time, running: 1, in: spots)
        }
        let finding = try #require(launch.findings.first { $0.kind == .mainThreadWork })
        #expect(launch.profile.name(of: finding) == "load")
        guard case .mainThreadWork(_, let mostly) = finding.subject else { return }
        #expect(mostly.map { launch.profile.frames.function(of: $0).name } == inner)
    }

    /// A module's top level, or a function that only calls, is named with the own function that does the work.
    @Test(arguments: [(70, "parse"), (60, nil)] as [(Int64, String?)])
    func whoseWorkMostOfItIs(parsing: Int64, inner: String?) throws {
        var launch = FindingLaunch()
        let load = FindingLaunch.entry + [Spot("load", file: "/src/load.c", line: 4)]
        let parse = [
            Spot("qsort", FindingLaunch.libc), Spot("parse", file: "/src/parse.c", line: 9),
        ]
        for time in 0..<700 as Range<Int64> {
            let spots =
                time >= 400 ? FindingLaunch.entry : time % 100 < parsing ? load + parse : load
            launch.run(launch.main, at: 110 + time, running: 1, in: spots)
        }
        let finding = try #require(launch.findings.first { $0.kind == .mainThreadWork })
        #expect(launch.profile.name(of: finding) == "load")
        guard case .mainThreadWork(_, let mostly) = finding.subject else { return }
        #expect(mostly.map { launch.profile.frames.function(of: $0).name } == inner)
    }

    /// A library whose functions have no names has a name itself.
    @Test func withoutNamesItIsTheLibrary() throws {
        var launch = FindingLaunch()
        let path = [
            Spot("main", "/usr/bin/gimp"), Spot("parse", "/usr/lib/libglib.so"),
            Spot(nil, "/usr/lib/libgegl.so"), Spot(nil, "/usr/lib/libbabl.so"),
            Spot(nil, "/usr/lib/libbabl.so"), Spot("memset", FindingLaunch.libc),
        ]
        for time in 0..<800 as Range<Int64> {
            // Half of the whole is in `parse`, most of which is in one library.
            let spots =
                time < 290
                ? path
                : Array(path.prefix(time < 460 ? 2 : 1)) + [Spot("f\(time % 20)", path[0].module)]
            launch.run(launch.main, at: 110 + time, running: 1, in: spots)
        }
        let finding = try #require(launch.findings.first)
        #expect(launch.profile.name(of: finding) == "parse")
        guard case .mainThreadWork(_, let inner?) = finding.subject else {
            Issue.record("\(finding.subject)")
            return
        }
        let function = launch.profile.frames.function(of: inner)
        #expect(function.module == "libbabl.so" && function.isUnnamed)
    }

    /// Below a function with a name, functions without names add no information.
    @Test func unnamedLibrariesInAStack() {
        var launch = FindingLaunch()
        let spots = [
            Spot(nil, "/home/dev/app"), Spot(nil, "/usr/lib/libone.so"),
            Spot(nil, "/usr/lib/libone.so"), Spot("two", "/usr/lib/libtwo.so"),
            Spot(nil, "/usr/lib/libtwo.so"), Spot(nil, FindingLaunch.libc),
        ]
        launch.run(launch.main, at: 110, running: 1, in: spots)
        let profile = launch.profile
        let stack = profile.heaviestStack(.all, weight: .cpu).entries.map(\.frame)
        #expect(stack.count == spots.count)
        #expect(profile.unnamedLibraries(in: stack) == [1])
    }

    // MARK: The dynamic linker

    /// Linking takes `length` ms of a launch of 1,000.
    private func linking(_ length: Int64, running: Int64) -> FindingLaunch {
        var launch = FindingLaunch()
        launch.builder.recording.borders.removeAll { [.relocated, .main].contains($0.kind) }
        launch.builder.border(.relocated, 2 + length)
        launch.builder.border(.main, 3 + length)
        let linker = "/lib/ld-linux-x86-64.so.2"
        let path = [Spot("_dl_start", linker), Spot("dl_main", linker)]
        for time in 0..<running {
            let leaf =
                time % 4 == 0
                ? Spot("_dl_map_object_from_fd", linker) : Spot("_dl_relocate_object", linker)
            launch.run(launch.main, at: 2 + time, running: 1, in: path + [leaf])
        }
        launch.load("/usr/lib/liba.so", at: 3)
        launch.load("/usr/lib/libb.so", at: 4)
        return launch
    }

    @Test func aLinkerThatIsMuchOfTheLaunch() throws {
        let launch = linking(400, running: 300)
        let finding = try #require(launch.findings.first)
        #expect(launch.findings.count == 1)
        #expect(
            finding.subject
                == .dynamicLinking(
                    LinkingEvidence(
                        libraries: 2, cpu: .milliseconds(300), relocating: .milliseconds(225))))
        #expect(finding.saving == .milliseconds(400))
        #expect(finding.range == .milliseconds(2)..<(.milliseconds(402)))
        #expect(launch.profile.name(of: finding) == "_dl_relocate_object")
    }

    @Test func theUsualLinkingTimeIsNoFinding() {
        #expect(linking(249, running: 249).findings.isEmpty)
        #expect(linking(250, running: 250).findings.map(\.kind) == [.dynamicLinking])
        // It waited for a core, most of the time.
        #expect(linking(400, running: 15).findings.isEmpty)
    }

    // MARK: Builds

    private func unoptimized(_ length: Int64, module: String = "/home/dev/app") -> FindingLaunch {
        var launch = FindingLaunch()
        let spot = Spot("slow", module, file: "/src/s.c", line: 4)
        for time in 0..<length {
            launch.run(launch.main, at: 110 + time, running: 1, in: FindingLaunch.entry + [spot])
        }
        let address = launch.builder.address(spot)
        launch.builder.recording.symbols.frames[address]?[0].isUnoptimized = true
        return launch
    }

    @Test func codeWithoutOptimisation() throws {
        let launch = unoptimized(100)
        let finding = try #require(launch.findings.first)
        #expect(finding.subject == .unoptimizedBuild(functions: 1))
        #expect(finding.saving == .milliseconds(100))
        #expect(finding.range == .milliseconds(110)..<(.milliseconds(210)))
        #expect(unoptimized(99).findings.isEmpty)
        #expect(unoptimized(100, module: "/usr/lib/libold.so").findings.isEmpty)
    }

    @Test func librariesForDebugging() {
        for (path, isFound) in [
            ("/usr/lib/x86_64-linux-gnu/libasan.so.8", true),
            ("/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6", true),
            ("/usr/lib/libstdc++.so.6", false), ("/home/dev/debug/app", false),
        ] {
            var launch = FindingLaunch()
            launch.run(
                launch.main, at: 110, running: 20, in: [Spot("check", path)])
            #expect(launch.findings.map(\.kind) == (isFound ? [.debugLibrary] : []))
        }
    }

    // MARK: Notes

    private func notes(
        _ notes: [RecorderNote], _ change: (inout FindingLaunch) -> Void = { _ in }
    ) -> [MeasurementNote] {
        var launch = FindingLaunch()
        launch.computeABit()
        launch.builder.recording.notes = notes
        change(&launch)
        return launch.profile.measurementNotes()
    }

    @Test func aBusyMachine() throws {
        #expect(notes([RecorderNote(.busyElsewhere, 99), RecorderNote(.stolen, 19)]).isEmpty)
        // The program's own threads may have waited for each other's cores.
        #expect(notes([RecorderNote(.corePressure, 900)]).isEmpty)
        let found = notes([RecorderNote(.busyElsewhere, 100), RecorderNote(.corePressure, 900)])
        guard case .busyMachine(let machine) = found.first else {
            Issue.record("\(found)")
            return
        }
        #expect(machine.others == 0.1 && machine.cores == 0.9)
        #expect(machine.stolen == nil && machine.disk == nil && machine.lacked == nil)
        #expect(notes([RecorderNote(.stolen, 20)]).count == 1)
    }

    /// The main thread's missing core time is enough, if no other reason was seen.
    @Test func aMainThreadWithoutACore() throws {
        func lacked(_ milliseconds: Int64) -> MeasurementNote? {
            notes([]) {
                let stack = $0.builder.stack(FindingLaunch.entry)
                $0.builder.slice($0.main, at: 850, preempted: milliseconds, stack)
            }.first
        }
        #expect(lacked(99) == nil)
        guard case .busyMachine(let machine)? = lacked(100) else {
            Issue.record("no note")
            return
        }
        #expect(machine.lacked == .milliseconds(100) && machine.wall == .milliseconds(1000))
        #expect(machine.computes && machine.others == nil)
    }

    /// A thread of the program's own had a core in the meantime: then the machine had no other
    /// work, unless it is known to have had some.
    @Test(arguments: [(60, true), (40, false)] as [(Int64, Bool)])
    func aCoreThatTheProgramTookItself(worked: Int64, isItself: Bool) {
        func found(_ others: [RecorderNote]) -> [MeasurementNote] {
            notes(others) { launch in
                let stack = launch.builder.stack(FindingLaunch.entry)
                launch.builder.slice(launch.main, at: 850, preempted: 100, stack)
                launch.builder.runs(
                    launch.main, from: 850, (.preempted, until: 950), (.running, until: 951))
                launch.builder.runs(
                    launch.worker(), from: 850, (.running, until: 850 + worked))
            }
        }
        #expect(found([]).isEmpty == isItself)
        #expect(found([RecorderNote(.busyElsewhere, 300)]).count == 1)
    }

    @Test func waitingForStorageIsOthersUnlessTheProgramDid() {
        let pressure = [RecorderNote(.diskPressure, 150)]
        #expect(notes(pressure).count == 1)
        #expect(notes(pressure) { $0.wait(WaitReason(.file), from: 850, to: 901) }.isEmpty)
    }

    @Test func overheadThatShows() {
        // 400 ms of work.
        #expect(
            notes([]) { $0.builder.recording.header.heldByProfiler = .milliseconds(19) }.isEmpty)
        let found = notes([]) { $0.builder.recording.header.heldByProfiler = .milliseconds(20) }
        #expect(found == [.profilerOverhead(held: .milliseconds(20), share: 0.05)])
    }
}
