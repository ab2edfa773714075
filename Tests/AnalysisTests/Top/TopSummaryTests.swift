import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Many launches, made by hand.
@Suite struct TopSummaryTests {
    private typealias Spot = RecordingBuilder.Spot

    /// A launch of 100 ms of a program, with a slice for each stack and its milliseconds.
    static func launch(
        _ stacks: [([String], Int64)] = [], path: String = "/home/dev/app", build: UInt8? = nil,
        more: (inout RecordingBuilder, ThreadIndex) -> Void = { _, _ in }
    ) -> Profile {
        var builder = RecordingBuilder(images: [(path, 0)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 0)
        builder.border(.main, 20)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 100, to: 100, isMain: true)
        var time: Int64 = 20
        for (names, milliseconds) in stacks {
            builder.slice(
                main, at: time, running: milliseconds,
                builder.stack(names.map { Spot($0, path) }))
            time += milliseconds
        }
        more(&builder, main)
        for index in builder.recording.modules.indices {
            builder.recording.modules[index].buildID = build.map { [$0] } ?? []
        }
        return Profile(builder.recording)
    }

    static func summary(
        _ profiles: [Profile], phase: String? = nil, resolved: [ResolvedEntry] = []
    ) throws -> TopSummary {
        var sums = TopSums(phase: phase, resolved: resolved)
        for (index, profile) in profiles.enumerated() {
            sums.add(profile, TopLaunch(path: "\(index)", date: Int64(index) * 100))
        }
        return try TopSummary(sums)
    }

    private func thing(
        _ name: String, _ kind: TopKind = .function, in program: TopProgram?
    ) throws -> TopThing {
        try #require(program?.things[kind]?.first { $0.function.name == name })
    }

    @Test func launchesWithoutItCountAsZero() throws {
        let with = Self.launch([(["main", "slow"], 30)])
        let without = Self.launch([(["main", "quick"], 10)])
        let program = try Self.summary([with, without, without]).programs.first
        let slow = try thing("slow", in: program)
        #expect(slow.figures.seen == 1 && slow.figures.launches == 3)
        #expect(slow.figures.own?.mean == .milliseconds(10))
        // 30, 0 and 0: the standard error is 10, Student's t of two degrees 4.303.
        let margin = try #require(slow.figures.own?.margin)
        #expect(abs(margin.nanoseconds - 43_026_527) < 1_000)
        #expect(try thing("main", in: program).figures.seen == 3)
    }

    /// Unknown is not zero.
    @Test func oneLaunchHasNoInterval() throws {
        let program = try Self.summary([Self.launch([(["main"], 30)])]).programs.first
        #expect(program?.wall.mean == .milliseconds(100) && program?.wall.margin == nil)
        #expect(try thing("main", in: program).figures.own?.margin == nil)
        let two = try Self.summary([Self.launch([]), Self.launch([])]).programs.first
        #expect(two?.wall.margin == .zero)
    }

    /// A part that the compiler split off counts as the function itself, whichever of them calls
    /// the other.
    @Test func variantsAndRecursionCountOnce() throws {
        let profile = Self.launch([
            (["f", "f [clone .part.0]"], 7), (["f [clone .cold]", "g", "f"], 5),
        ])
        let program = try Self.summary([profile, profile]).programs.first
        let function = try thing("f", in: program)
        #expect(function.figures.sum.own.wall == .milliseconds(24))
        #expect(function.figures.sum.total.wall == .milliseconds(24))
        #expect(function.figures.own?.mean == .milliseconds(12))
    }

    @Test func programsAreApart() throws {
        let profiles = [
            Self.launch([(["main"], 10)], path: "/home/dev/one"),
            Self.launch([(["main"], 20)], path: "/home/dev/two"),
            Self.launch([(["main"], 40)], path: "/opt/two"),
        ]
        let programs = try Self.summary(profiles).programs
        // The one with more launches first; a folder makes no other program.
        #expect(programs.map(\.name) == ["two", "one"])
        #expect(programs.map(\.launches) == [2, 1])
        #expect(try thing("main", in: programs.first).figures.own?.mean == .milliseconds(30))
        #expect(try thing("main", in: programs.last).figures.own?.mean == .milliseconds(10))
    }

    @Test func versionsComeInTheirOrder() throws {
        let profiles = [
            Self.launch([(["slow"], 40)], build: 9), Self.launch([(["quick"], 4)], build: 2),
            Self.launch([(["slow"], 20)], build: 9), Self.launch([(["slow"], 3)]),
        ]
        let program = try #require(try Self.summary(profiles).programs.first)
        #expect(program.versions.map(\.buildID) == [[9], [2], []])
        #expect(program.versions.map(\.launches) == [2, 1, 1])
        #expect(program.versions.first?.last.date == 200)
        let slow = try thing("slow", in: program)
        let means = slow.byVersion.map { $0.own?.mean }
        #expect(means == [.milliseconds(30), .zero, .milliseconds(3)])
        #expect(slow.byVersion.map(\.seen) == [2, 0, 1])
    }

    @Test func remarks() throws {
        var other = RecordingBuilder(images: [("/home/dev/app", 0)])
        other.recording.images[0].arguments = ["app", "--other"]
        other.recording.header.outcome = .signalled(11)
        other.recording.header.frequency = 50
        other.border(.spawned, 0)
        other.border(.ended, 10)
        other.ready("listen:80", at: 5)
        let same = try #require(try Self.summary([Self.launch(), Self.launch()]).programs.first)
        #expect(
            same.remarks
                == TopRemarks(
                    failed: 0, differInEnds: false, differInCapture: false,
                    differInArguments: false))
        let mixed = [Self.launch(), Profile(other.recording)]
        #expect(
            try Self.summary(mixed).programs.first?.remarks
                == TopRemarks(
                    failed: 1, differInEnds: true, differInCapture: true, differInArguments: true))
    }

    // MARK: Phases

    @Test func onePhase() throws {
        let profiles = [
            Self.launch([(["main"], 30)]), Self.launch([(["main"], 50)], path: "/bin/app"),
        ]
        let main = try Self.summary(profiles, phase: "ma")
        #expect(main.phase == "Main")
        #expect(main.programs.first?.wall.mean == .milliseconds(80))
        #expect(throws: TopError.self) { try Self.summary(profiles, phase: "nothing") }
        do {
            _ = try Self.summary(profiles, phase: "nothing")
        } catch {
            #expect(
                "\(error)" == "no phase 'nothing' in these recordings; they have: "
                    + profiles[0].phases.map(\.name).joined(separator: ", "))
        }
    }

    /// "Lo" is one phase in each launch, and not the same one.
    @Test func aBeginningThatMeansSeveral() throws {
        func launch(_ name: String) -> Profile {
            Self.launch { builder, main in
                builder.interval(name, "launch", main, from: 30, to: 60)
            }
        }
        let profiles = [launch("Load"), launch("Look")]
        do {
            _ = try Self.summary(profiles, phase: "lo")
            Issue.record("no error")
        } catch {
            #expect(error as? TopError == .severalPhases("lo", found: ["Load", "Look"]))
        }
        // The launch without it took no time in it.
        let load = try Self.summary(profiles, phase: "load").programs.first
        #expect(load?.launches == 2 && load?.wall.mean == .milliseconds(15))
    }

    // MARK: Waits, initialisers, libraries

    @Test func waits() throws {
        func launch(_ detail: String, twice: Bool = false) -> Profile {
            Self.launch { builder, main in
                let stack = builder.stack("main", "read stars")
                builder.wait(
                    main, from: 30, to: 40, WaitReason(.lock, detail: detail), stack)
                if twice {
                    builder.wait(main, from: 50, to: 54, WaitReason(.lock, detail: detail), stack)
                }
                let worker = builder.thread("worker", tid: 101, to: 100)
                builder.wait(worker, from: 30, to: 90, WaitReason(.sleep, detail: "5 s"), stack)
            }
        }
        let program = try Self.summary([launch("mutex at 0x7f12"), launch("mutex", twice: true)])
            .programs.first
        let waits = try #require(program?.things[.wait])
        #expect(waits.map(\.thread) == ["worker", nil])
        #expect(waits.map(\.reason) == [WaitReason(.sleep), WaitReason(.lock, detail: "mutex")])
        #expect(waits.last?.figures.sum.count == 3)
        #expect(waits.last?.figures.own?.mean == .milliseconds(12))
        // A reason that differs between launches is not shown for all.
        let others = try Self.summary([launch("mutex"), launch("condition")]).programs.first
        #expect(others?.things[.wait]?.last?.reason == WaitReason(.lock))
        // A wait belongs to the phase that it began in.
        let early = try Self.summary([launch("mutex")], phase: "main").programs.first
        #expect(early?.things[.wait]?.count == 2)
        let none = try Self.summary([launch("mutex")], phase: "static").programs.first
        #expect(none?.things[.wait] == nil)
    }

    @Test func initialisers() throws {
        func launch(_ milliseconds: Int64) -> Profile {
            Self.launch { builder, main in
                builder.initializer(
                    Spot("set up", file: "/src/a.c", line: 4), main, from: 5, to: 5 + milliseconds,
                    cpu: 1)
                builder.initializer(Spot("set up"), main, from: 18, to: 19, cpu: 1)
            }
        }
        let program = try Self.summary([launch(3), launch(7)]).programs.first
        let figures = try thing("set up", .initializer, in: program)
        #expect(figures.figures.own?.mean == .milliseconds(6))
        #expect(figures.figures.sum.total.cpu == .milliseconds(4))
        #expect(figures.figures.sum.count == 4)
        #expect(figures.file == "/src/a.c" && figures.line == 4)
    }

    /// The cost of loading at start-up is not known, which differs from zero.
    @Test func libraries() throws {
        func launch(_ wall: Int64?) -> Profile {
            Self.launch { builder, _ in
                builder.recording.libraries.append(
                    LibraryLoad(
                        path: "/home/dev/\(wall ?? 0)/libx.so", start: RecordingBuilder.at(3),
                        wall: wall.map { .milliseconds($0) }, size: 1, isInitial: wall == nil))
            }
        }
        let loaded = try Self.summary([launch(4), launch(8), launch(nil), Self.launch()])
        let figures = try thing("libx.so", .library, in: loaded.programs.first).figures
        #expect(figures.seen == 3 && figures.unknown == 1)
        // Of 4, 8, and the launch that did not load it.
        #expect(figures.own?.mean == .milliseconds(4))
        let unknown = try Self.summary([launch(nil), launch(nil)])
        #expect(try thing("libx.so", .library, in: unknown.programs.first).figures.own == nil)
    }

    /// Processes that a launch started, by the program that each ran at the end.
    @Test func processes() throws {
        func launch(_ lives: [(String, Int64, Int64?)]) -> Profile {
            Self.launch { builder, _ in
                for (index, life) in lives.enumerated() {
                    builder.recording.children.append(
                        ChildProcess(
                            pid: Int32(200 + index), parent: 100, name: life.0,
                            start: RecordingBuilder.at(life.1),
                            end: life.2.map(RecordingBuilder.at), outcome: .exited(0)))
                }
            }
        }
        let launches = [
            launch([("sed", 1, 3), ("sed", 3, 7), ("git", 2, 4)]), launch([("sed", 1, 5)]),
            // A library of that name is another thing.
            Self.launch { builder, _ in
                builder.recording.libraries.append(
                    LibraryLoad(
                        path: "/lib/sed", start: RecordingBuilder.at(3), wall: .milliseconds(2),
                        size: 1, isInitial: false))
            },
        ]
        let program = try Self.summary(launches).programs.first
        let sed = try thing("sed", .process, in: program)
        #expect(sed.figures.seen == 2 && sed.figures.sum.count == 3)
        // 6, 4 and none.
        #expect(sed.figures.own?.mean == TimeSpan(nanoseconds: 3_333_333))
        #expect(try thing("git", .process, in: program).figures.sum.count == 1)
        #expect(try thing("sed", .library, in: program).figures.seen == 1)
        #expect(sed.thing == ResolvedEntry.Thing(.process, "sed"))
        // A process that lives on counts up to the launch's end.
        let running = try Self.summary([launch([("daemon", 2, nil)])]).programs.first
        let wall = try #require(running?.wall.mean)
        let own = try thing("daemon", .process, in: running).figures.own?.mean
        #expect(own == wall - .milliseconds(2))
    }

    @Test func nothingAtAll() throws {
        let summary = try TopSummary(TopSums())
        #expect(summary.programs.isEmpty && summary.phase == nil)
        #expect(throws: TopError.unknownPhase("Main", known: [])) {
            try TopSummary(TopSums(phase: "Main"))
        }
    }
}
