import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Initialisers with their functions, libraries with their use.
@Suite struct LaunchFactTests {
    private static let library = "/home/dev/libslow.so"
    private static let warmUp = RecordingBuilder.Spot(
        "warmUp", library, file: "/src/slow.cpp", line: 12)

    /// Relocated at 10 ms, main at 50 ms, over at 100 ms.
    private func launch() -> (RecordingBuilder, ThreadIndex) {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.relocated, 10)
        builder.border(.main, 50)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 7, to: 100, isMain: true)
        return (builder, main)
    }

    private func load(
        _ builder: inout RecordingBuilder, path: String = library, start: Int64 = 3,
        wall: Int64? = nil, isInitial: Bool = true, file: String? = nil
    ) {
        builder.recording.libraries.append(
            LibraryLoad(
                path: path, start: RecordingBuilder.at(start),
                wall: wall.map(TimeSpan.milliseconds), size: 4096, requestedBy: "/home/dev/app",
                isInitial: isInitial, file: file))
    }

    // MARK: Initialisers

    @Test func initialisersHaveTheirFunction() throws {
        var (builder, main) = launch()
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 17)
        builder.initializer(
            .init("_GLOBAL__sub_I_view.cpp"), main, from: 11, to: 40, cpu: 2, isComplete: false)
        builder.slice(main, at: 10, running: 20, builder.stack([.init("_dl_init"), Self.warmUp]))
        let profile = Profile(builder.recording)
        // The outer one is first.
        #expect(
            profile.initializers.map { profile.frames.function(of: $0.frame).name }
                == ["_GLOBAL__sub_I_view.cpp", "warmUp"])
        #expect(profile.initializers.map(\.file) == ["view.cpp", "/src/slow.cpp"])
        #expect(profile.initializers.map(\.line) == [nil, 12])
        #expect(profile.initializers.map(\.isComplete) == [false, true])
        let run = try #require(profile.initializers.last)
        #expect(run.start == .milliseconds(12))
        #expect(run.wall == .milliseconds(18) && run.cpu == .milliseconds(17))
        // Its tree is its thread's time within its own.
        let tree = profile.topDown(profile.selection(of: run), weight: .wall)
        #expect(tree.total.wall == .milliseconds(18))
        #expect(tree.nodes.map { tree.function(of: $0).name } == ["_dl_init", "warmUp"])
    }

    @Test(
        arguments: [
            ("_GLOBAL__sub_I_view.cpp", "view.cpp"), ("_GLOBAL__sub_I_a.b.CC", "a.b.CC"),
            ("_GLOBAL__I_old.c", "old.c"), ("global constructors keyed to a.cpp", "a.cpp"),
            ("global constructors keyed to app::log", nil), ("_GLOBAL__sub_I_main", nil),
            ("_GLOBAL__sub_I__ZN3app4mainE", nil), ("_GLOBAL__sub_I_x.0", nil),
            ("_GLOBAL__sub_I_.cpp", nil), ("_GLOBAL__sub_I_", nil), ("view.cpp", nil), ("", nil),
        ] as [(String, String?)])
    func sourceFileOfDynamicInitialisation(symbol: String, file: String?) {
        #expect(InitializerFigures.sourceFile(of: symbol) == file)
    }

    // MARK: Libraries

    /// A shell that executes a program has the C library, as the program has. Each counts its own
    /// initialisers.
    @Test func librariesOfProgramsThatFollowEachOther() throws {
        var builder = RecordingBuilder(images: [("/bin/sh", 2), ("/home/dev/app", 40)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.main, 30)
        builder.border(.firstInstruction, 40)
        builder.border(.main, 90)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 7, to: 100, isMain: true)
        load(&builder, start: 3)
        load(&builder, start: 41)
        builder.initializer(Self.warmUp, main, from: 12, to: 15, cpu: 3)
        builder.initializer(Self.warmUp, main, from: 50, to: 70, cpu: 20)
        let profile = Profile(builder.recording)
        #expect(profile.libraries.map(\.initializers) == [.milliseconds(3), .milliseconds(20)])
    }

    @Test func aLibraryThatRanAfterItsInitialisersIsUsed() {
        var (builder, main) = launch()
        load(&builder)
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 17)
        builder.slice(main, at: 12, running: 18, builder.stack([Self.warmUp]))
        builder.slice(main, at: 50, running: 10, builder.stack("main"))
        #expect(Profile(builder.recording).libraries.map(\.used) == [false])
        // Anywhere on the stack.
        builder.slice(
            main, at: 60, running: 10,
            builder.stack([
                .init("main"), .init("log", Self.library), .init("write", "/lib/libc.so"),
            ]))
        let profile = Profile(builder.recording)
        #expect(profile.libraries.map(\.used) == [true])
        #expect(profile.libraries.map(\.initializers) == [.milliseconds(18)])
        #expect(profile.libraries.map(\.start) == [.milliseconds(3)])
        #expect(profile.libraries.map(\.isOwn) == [true])
    }

    /// A wait that many looks saw is one slice, which may have begun before the initialisers were over.
    @Test(arguments: [(end: Int64(19), isUse: false), (60, true)])
    func aWaitInALibraryIsItsUseWhileItLasts(end: Int64, isUse: Bool) {
        var (builder, main) = launch()
        load(&builder)
        builder.initializer(.init("init", Self.library), main, from: 11, to: 19, cpu: 1)
        builder.slice(
            main, at: 12, blocked: end - 12, builder.stack([.init("sleep", Self.library)]), call: 35
        )
        builder.slice(main, at: end, running: 10, builder.stack("main"))
        #expect(Profile(builder.recording).libraries.map(\.used) == [isUse])
    }

    @Test func relocationIsNoUseOfALibrary() {
        var (builder, main) = launch()
        load(&builder)
        builder.initializer(.init("other"), main, from: 11, to: 12, cpu: 1)
        builder.slice(main, at: 3, running: 5, builder.stack([.init("resolve", Self.library)]))
        builder.slice(main, at: 50, running: 10, builder.stack("main"))
        #expect(Profile(builder.recording).libraries.map(\.used) == [false])
    }

    @Test func destructorsAreNoUse() {
        var (builder, main) = launch()
        load(&builder)
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 17)
        builder.slice(main, at: 50, running: 10, builder.stack("main"))
        builder.slice(
            main, at: 60, running: 10,
            builder.stack([
                .init("__run_exit_handlers", "/lib/libc.so"), .init("free", Self.library),
            ]))
        #expect(Profile(builder.recording).libraries.map(\.used) == [false])
    }

    @Test func withoutStacksAfterwardsItIsNotKnown() {
        var (builder, main) = launch()
        load(&builder, start: 60, wall: 20, isInitial: false)
        _ = builder.module(Self.library)
        builder.slice(main, at: 50, running: 25, builder.stack("main"))
        #expect(Profile(builder.recording).libraries.map(\.used) == [nil])
        // It may have begun in an initialiser.
        builder.slice(main, at: 75, running: 10, builder.stack("main"))
        #expect(Profile(builder.recording).libraries.map(\.used) == [nil])
        builder.slice(main, at: 85, running: 15, builder.stack("main"))
        #expect(Profile(builder.recording).libraries.map(\.used) == [false])
    }

    @Test func withoutItsModuleItIsNotKnown() {
        var (builder, main) = launch()
        load(&builder)
        builder.slice(main, at: 50, running: 50, builder.stack("main"))
        #expect(Profile(builder.recording).libraries.map(\.used) == [nil])
    }

    /// Where initialisers were not watched, only what ran after `main` surely is none.
    @Test func withoutInitialisersOnlyMainTells() {
        var (builder, main) = launch()
        load(&builder)
        builder.slice(main, at: 12, running: 18, builder.stack([Self.warmUp]))
        builder.slice(main, at: 50, running: 10, builder.stack("main"))
        #expect(Profile(builder.recording).libraries.map(\.used) == [nil])
        builder.slice(main, at: 60, running: 10, builder.stack([.init("log", Self.library)]))
        #expect(Profile(builder.recording).libraries.map(\.used) == [true])
    }

    @Test(
        arguments: [
            // The dynamic linker's name, its file, the module's path, whether they belong together.
            ("/lib/libz.so.1", "/usr/lib/libz.so.1.2", "/usr/lib/libz.so.1.2", true),
            ("/lib/libz.so.1", nil, "/lib/libz.so.1", true),
            ("/lib/libz.so.1", nil, "/usr/lib/libz.so.1", true),
            ("/lib/libz.so.1", nil, "/usr/lib/libz.so.1.2", false),
        ] as [(String, String?, String, Bool)])
    func librariesAndModules(path: String, file: String?, module: String, isSame: Bool) {
        var (builder, main) = launch()
        load(&builder, path: path, file: file)
        builder.initializer(.init("other"), main, from: 11, to: 12, cpu: 1)
        builder.slice(main, at: 50, running: 10, builder.stack([.init("inflate", module)]))
        #expect(Profile(builder.recording).libraries.map(\.used) == [isSame ? true : nil])
    }

    @Test func theCallerOfDlopenIsShown() {
        var (builder, _) = launch()
        load(&builder, start: 60, wall: 5, isInitial: false)
        builder.recording.libraries[0].caller = builder.stack("main", "loadPlugin")
        let profile = Profile(builder.recording)
        #expect(
            profile.libraries[0].caller.map { profile.frames.function(of: $0).name }
                == ["main", "loadPlugin"])
        #expect(profile.libraries[0].wall == .milliseconds(5))
    }

    /// Such recordings are refused when they are read; nothing here relies on it.
    @Test func referencesThatLeadNowhere() {
        var (builder, main) = launch()
        load(&builder)
        builder.recording.libraries[0].caller = StackID(99)
        builder.recording.initializers = [
            InitializerRun(
                function: StackID(-1), thread: main, start: RecordingBuilder.at(1),
                end: RecordingBuilder.at(2), cpu: .zero, isComplete: true),
            InitializerRun(
                function: StackID(0), thread: ThreadIndex(5), start: RecordingBuilder.at(1),
                end: RecordingBuilder.at(2), cpu: .zero, isComplete: true),
        ]
        builder.interval("i", "launch", ThreadIndex(-1), from: 90, to: 20)
        builder.event("e", "", ThreadIndex(77), at: 5)
        let profile = Profile(builder.recording)
        #expect(profile.initializers.isEmpty)
        #expect(profile.libraries[0].caller.isEmpty)
        #expect(profile.intervals.map(\.thread) == [nil])
        #expect(profile.intervals.map(\.wall) == [.zero])
        #expect(profile.signposts.map(\.thread) == [nil])
    }
}
