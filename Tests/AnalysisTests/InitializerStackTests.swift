import MadeRecordings
import ProfileModel
import TestSupport
import Testing

@testable import Analysis

/// The time of initialisers belongs to them, whether or not a look fell into them.
@Suite struct InitializerStackTests {
    private typealias Spot = RecordingBuilder.Spot

    private static let library = "/home/dev/libslow.so"
    private static let linker = [Spot("_dl_init", "/lib/ld.so"), Spot("call_init", "/lib/ld.so")]
    private static let warmUp = Spot("warmUp", library)
    private static let parse = Spot("parse", library)
    private static let other = Spot("other", library)

    private var builder: RecordingBuilder
    private let main: ThreadIndex

    /// Relocated at 10 ms, main at 50 ms, over at 100 ms.
    init() {
        builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.relocated, 10)
        builder.border(.main, 50)
        builder.border(.ended, 100)
        main = builder.thread("app", tid: 7, to: 100, isMain: true)
    }

    private mutating func stack(_ spots: Spot...) -> StackID? {
        builder.stack(Self.linker + spots)
    }

    /// Wall time in milliseconds by stack, as folded lines have it.
    private func stacks(weight: Weight = .wall) -> [String: Double] {
        let profile = Profile(builder.recording)
        #expect(
            profile.times(in: .all)
                == builder.recording.slices.reduce(StateTimes.zero) { $0 + $1.times })
        var result: [String: Double] = [:]
        for stack in profile.weighedStacks(weight: weight, byPhase: false, byThread: false) {
            let names = stack.frames.map { profile.frames.function(of: $0).name }
            result[names.joined(separator: ";")] = Double(stack.weight.nanoseconds) / 1_000_000
        }
        return result
    }

    @Test mutating func timeBetweenSamplesIsTheInitialisers() {
        builder.initializer(Self.warmUp, main, from: 12, to: 18, cpu: 6)
        builder.initializer(Self.other, main, from: 20, to: 25, cpu: 5)
        builder.slice(main, at: 10, running: 14, stack(Self.other))
        builder.slice(main, at: 24, running: 6, builder.stack("main"))
        #expect(
            stacks() == [
                "_dl_init;call_init": 4, "_dl_init;call_init;warmUp": 6,
                "_dl_init;call_init;other": 5, "main": 5,
            ])
    }

    @Test mutating func aSampleSaysNothingOfEarlierTime() {
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 18)
        builder.slice(main, at: 10, running: 10, stack(Self.warmUp, Self.parse))
        builder.slice(main, at: 20, running: 30, stack(Self.warmUp))
        #expect(
            stacks() == [
                "_dl_init;call_init": 22, "_dl_init;call_init;warmUp;parse": 8,
                "_dl_init;call_init;warmUp": 10,
            ])
    }

    /// A function that ends with a call (a tail call) gives its place on the stack to the called
    /// function.
    @Test mutating func aTailCallIsTheInitialisers() {
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 18)
        builder.slice(main, at: 12, running: 10, stack(Self.parse))
        #expect(stacks() == ["_dl_init;call_init;parse": 10])
        // Where other stacks show their callers as well.
        builder.initializer(Self.other, main, from: 30, to: 35, cpu: 5)
        builder.slice(main, at: 22, running: 10, stack(Self.other))
        #expect(
            stacks() == [
                "_dl_init;call_init;parse": 10, "_dl_init;call_init;warmUp": 8,
                "_dl_init;call_init;other": 2,
            ])
    }

    /// Computing before a wait has the stack of the next look at the thread while it ran.
    @Test mutating func aMuchLaterSampleIsNotTheInitialisers() {
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 18)
        builder.slice(main, at: 12, running: 10, builder.stack("main"))
        builder.slice(main, at: 22, blocked: 4, stack(Self.warmUp), call: 35)
        builder.slice(main, at: 26, running: 14, builder.stack("main"))
        #expect(
            stacks() == [
                "_dl_init;call_init;warmUp": 14,
                "_dl_init;call_init;warmUp;[nanosleep]": 4, "main": 10,
            ])
    }

    @Test mutating func aWaitIsWhoseStackItHas() {
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 6)
        builder.initializer(Self.other, main, from: 30, to: 32, cpu: 1)
        builder.slice(main, at: 12, running: 10, blocked: 10, stack(Self.warmUp), call: 35)
        let all = stacks()
        #expect(all["_dl_init;call_init;warmUp;[nanosleep]"] == 10)
        #expect(all["_dl_init;call_init;warmUp"] == 9)
        #expect(all["_dl_init;call_init;other"] == 1)
        // Where waits have no frame of their own, too.
        let profile = Profile(builder.recording)
        let figures = profile.functions(orderedBy: .wall)
        let blocked = figures.map { profile.frames[$0.function].name }
        let waited = zip(blocked, figures.map(\.own.blocked)).filter { $0.1 > .zero }
        #expect(waited.map(\.0) == ["warmUp"])
    }

    @Test mutating func oneWithinAnother() {
        let plugin = Spot("plugin", "/home/dev/plugin.so")
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 18)
        builder.initializer(plugin, main, from: 15, to: 20, cpu: 5)
        builder.slice(main, at: 10, running: 12, stack(Self.warmUp, Self.parse))
        builder.slice(main, at: 22, running: 28, builder.stack("main"))
        #expect(
            stacks() == [
                "_dl_init;call_init": 2, "_dl_init;call_init;warmUp;parse": 5,
                "_dl_init;call_init;warmUp;plugin": 5, "_dl_init;call_init;warmUp": 8, "main": 20,
            ])
        // A look at the inner one.
        builder.recording.slices[0].times.running = .milliseconds(9)
        builder.recording.slices[0].stack = stack(Self.warmUp, Self.parse, plugin)
        builder.recording.slices[1].start = RecordingBuilder.at(19)
        builder.recording.slices[1].times.running = .milliseconds(31)
        #expect(
            stacks() == [
                "_dl_init;call_init": 2, "_dl_init;call_init;warmUp;parse": 3,
                "_dl_init;call_init;warmUp;parse;plugin": 5, "_dl_init;call_init;warmUp": 10,
                "main": 20,
            ])
    }

    /// Its caller is not made up.
    @Test mutating func theCallerOfAnUnsampledInitialiserIsUnknown() {
        builder.initializer(Self.warmUp, main, from: 12, to: 18, cpu: 6)
        builder.slice(main, at: 10, running: 10, nil, truncation: .notSampled)
        builder.slice(main, at: 20, running: 10, builder.stack("main"))
        #expect(stacks() == ["[not sampled]": 4, "[timed initialisers];warmUp": 6, "main": 10])
        // Where the slice ends within it, too.
        builder.recording.initializers[0].end = RecordingBuilder.at(22)
        #expect(stacks() == ["[not sampled]": 2, "[timed initialisers];warmUp": 10, "main": 8])
    }

    /// Libraries' initialisers are called by the dynamic linker, the program's by the C library.
    @Test mutating func callersOfLibrariesAreNotThePrograms() {
        let own = Spot("own")
        builder.initializer(Self.warmUp, main, from: 12, to: 18, cpu: 6)
        builder.initializer(own, main, from: 20, to: 25, cpu: 5)
        builder.slice(main, at: 12, running: 16, builder.stack(["_start", "own"].map { Spot($0) }))
        builder.slice(main, at: 28, running: 2, builder.stack("main"))
        builder.recording.slices[0].times.running = .milliseconds(12)
        builder.recording.slices[1].start = RecordingBuilder.at(24)
        builder.recording.slices[1].times.running = .milliseconds(6)
        #expect(
            stacks() == ["[timed initialisers];warmUp": 6, "_start": 2, "_start;own": 5, "main": 5])
    }

    /// For an initialiser that did not return the end is not known: it was closed where the
    /// recording ended.
    @Test mutating func anInitialiserWithoutAnEndHasItsSamples() {
        builder.initializer(Self.warmUp, main, from: 12, to: 100, cpu: 6, isComplete: false)
        builder.initializer(Self.other, main, from: 30, to: 35, cpu: 5)
        builder.slice(main, at: 12, running: 18, stack(Self.warmUp))
        builder.slice(main, at: 30, running: 20, builder.stack("main"))
        builder.slice(main, at: 50, running: 50, builder.stack("main"))
        #expect(
            stacks() == [
                "_dl_init;call_init;warmUp": 18, "[timed initialisers];other": 5, "main": 65,
            ])
    }

    /// A running look that follows a short wait: the initialiser's place in it is not known.
    @Test mutating func aShortWaitIsInItsShare() {
        builder.initializer(Self.warmUp, main, from: 12, to: 20, cpu: 4)
        builder.slice(main, at: 12, running: 5, blocked: 5, builder.stack("main"))
        #expect(
            stacks() == [
                "[timed initialisers];warmUp": 4, "[timed initialisers];warmUp;[blocked]": 4,
                "main": 1, "main;[blocked]": 1,
            ])
    }

    /// What one computed before a wait has the stack of a look that fell into the next.
    @Test mutating func anothersStackIsNotOfWhatItEndedWith() {
        builder.initializer(Self.warmUp, main, from: 12, to: 20, cpu: 6)
        builder.initializer(Self.other, main, from: 20, to: 30, cpu: 10)
        builder.slice(main, at: 12, running: 6, stack(Self.other, Self.parse))
        builder.slice(main, at: 18, blocked: 2, stack(Self.warmUp), call: 35)
        builder.slice(main, at: 20, running: 10, stack(Self.other, Self.parse))
        #expect(
            stacks() == [
                "_dl_init;call_init;warmUp": 6, "_dl_init;call_init;warmUp;[nanosleep]": 2,
                "_dl_init;call_init;other;parse": 10,
            ])
    }

    /// A stack whose outermost frames are missing shows no caller of others.
    @Test mutating func aTruncatedStackShowsNoCaller() {
        builder.initializer(Self.warmUp, main, from: 12, to: 18, cpu: 6)
        builder.initializer(Self.other, main, from: 18, to: 25, cpu: 7)
        builder.slice(
            main, at: 12, running: 3, builder.stack([Self.linker[1], Self.warmUp]),
            truncation: .unknownRegister)
        builder.slice(main, at: 15, running: 5, stack(Self.other))
        builder.slice(main, at: 20, running: 10, builder.stack("main"))
        #expect(
            stacks() == [
                "[truncated];call_init;warmUp": 3, "_dl_init;call_init;warmUp": 3,
                "_dl_init;call_init;other": 7, "main": 5,
            ])
    }

    /// A plugin host looks at a plugin, and loads it again to use it.
    @Test mutating func aLibraryThatIsLoadedAgainHasAnotherCaller() {
        for start in [52, 70] as [Int64] {
            builder.recording.libraries.append(
                LibraryLoad(
                    path: Self.library, start: RecordingBuilder.at(start), wall: .milliseconds(10),
                    size: 4096, isInitial: false))
            builder.initializer(Self.warmUp, main, from: start + 1, to: start + 5, cpu: 4)
        }
        let use = [Spot("main"), Spot("use"), Spot("dlopen", "/lib/libc.so"), Self.warmUp]
        builder.slice(main, at: 50, running: 10, builder.stack("main"))
        builder.slice(main, at: 71, running: 2, builder.stack(use))
        builder.slice(main, at: 73, running: 7, builder.stack("main"))
        #expect(
            stacks() == [
                "main": 11, "[timed initialisers];warmUp": 4, "main;use;dlopen;warmUp": 4,
            ])
    }

    /// Its outermost frames are missing, and with them perhaps the initialiser's.
    @Test mutating func aTruncatedStackStays() {
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 18)
        builder.slice(main, at: 12, running: 8, stack(Self.warmUp))
        builder.slice(
            main, at: 20, running: 10, builder.stack("deep", "deeper"), truncation: .stackLimit)
        #expect(
            stacks() == ["_dl_init;call_init;warmUp": 8, "[truncated];deep;deeper": 10])
    }

    @Test mutating func otherThreadsAreLeftAlone() {
        let worker = builder.thread("worker", tid: 8, from: 10, to: 50)
        builder.initializer(Self.warmUp, main, from: 12, to: 30, cpu: 18)
        builder.slice(worker, at: 10, running: 40, builder.stack("work"))
        #expect(stacks() == ["work": 40])
    }

    /// By chance: all sums stay, and each has what its thread ran meanwhile.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func eachHasItsTime(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var recording = RecordingBuilder.random(seed: seed)
        // No look, no tail call.
        for index in recording.slices.indices {
            recording.slices[index].times.running = recording.slices[index].times.wall
            recording.slices[index].times.runnable = .zero
            recording.slices[index].times.preempted = .zero
            recording.slices[index].times.blocked = .zero
            recording.slices[index].truncation = nil
            if Int.random(in: 0..<3, using: &random) == 0 { recording.slices[index].stack = nil }
        }
        var builder = RecordingBuilder(images: [])
        builder.recording = recording
        var time = RecordingBuilder.at(2)
        var wanted: [String: TimeSpan] = [:]
        var number = 0
        while time < RecordingBuilder.at(90) {
            let wall = TimeSpan(nanoseconds: Int64.random(in: 1...2_000_000, using: &random))
            let name = "initializer \(number % 7)"
            guard let function = builder.stack([Spot(name, Self.library)]) else { break }
            builder.recording.initializers.append(
                InitializerRun(
                    function: function, thread: ThreadIndex(0), start: time, end: time + wall,
                    cpu: wall, isComplete: true))
            wanted[name] = (wanted[name] ?? .zero) + wall
            time =
                time + wall + TimeSpan(nanoseconds: Int64.random(in: 0...900_000, using: &random))
            number += 1
        }
        // Some looks fell into one of them.
        let seen = Spot("initializer 1", Self.library)
        let stack = builder.stack(Self.linker + [seen, Spot("inner")])
        let function = builder.stack([seen])
        for index in builder.recording.slices.indices {
            let end = builder.recording.slices[index].end
            let isSeen = builder.recording.initializers.contains {
                $0.function == function && $0.start < end && end <= $0.end
            }
            if isSeen { builder.recording.slices[index].stack = stack }
        }
        let profile = Profile(builder.recording)
        #expect(
            profile.times(in: .all)
                == recording.slices.reduce(StateTimes.zero) { $0 + $1.times })
        let main = Selection(threads: [0])
        for figures in profile.functions(main, orderedBy: .wall) {
            let name = profile.frames[figures.function].name
            guard let time = wanted.removeValue(forKey: name) else { continue }
            #expect(figures.total.running == time, "\(name)")
        }
        #expect(wanted.isEmpty)
    }

    /// Slices of a thread that lie one over the other, each over all initialisers.
    @Test(.timeLimit(.minutes(1))) mutating func badSlicesCostNoMoreThanOthers() {
        for number in 0..<20_000 as Range<Int64> {
            builder.recording.initializers.append(
                InitializerRun(
                    function: stack(Self.warmUp) ?? StackID(0), thread: main,
                    start: RecordingBuilder.at(12) + TimeSpan(nanoseconds: number * 10),
                    end: RecordingBuilder.at(12) + TimeSpan(nanoseconds: number * 10 + 5),
                    cpu: .zero, isComplete: true))
            builder.slice(main, at: 10, running: 30, stack(Self.other))
        }
        #expect(Profile(builder.recording).parts.count < 1_000_000)
        // Runs within runs.
        for index in builder.recording.initializers.indices {
            builder.recording.initializers[index].end = RecordingBuilder.at(40)
        }
        #expect(Profile(builder.recording).parts.count < 1_000_000)
    }
}
