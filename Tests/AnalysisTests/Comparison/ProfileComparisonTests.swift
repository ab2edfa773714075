import Analysis
import MadeRecordings
import ProfileModel
import Testing

/// Things that are the same in two recordings, or that came, went or changed.
@Suite struct ProfileComparisonTests {
    typealias Spot = RecordingBuilder.Spot

    /// A launch whose *Main* is made of stretches of running, one after the other.
    private func launch(
        _ stretches: [([Spot], milliseconds: Int64)], program: String = "/home/dev/app",
        change: (inout RecordingBuilder, ThreadIndex) -> Void = { _, _ in }
    ) -> Profile {
        var builder = RecordingBuilder(images: [(program, 1)])
        let end = 10 + stretches.reduce(0) { $0 + $1.milliseconds }
        for (kind, time) in [(LaunchBorder.Kind.spawned, 0), (.firstInstruction, 1), (.main, 10)] {
            builder.border(kind, Int64(time))
        }
        builder.border(.ended, end)
        let main = builder.thread("app", tid: 100, to: end, isMain: true)
        builder.slice(main, at: 0, running: 10, nil)
        var time: Int64 = 10
        for (spots, length) in stretches {
            builder.slice(main, at: time, running: length, builder.stack(spots))
            time += length
        }
        change(&builder, main)
        return Profile(builder.recording)
    }

    private func spots(_ names: String..., module: String = "/home/dev/app") -> [Spot] {
        names.map { Spot($0, module) }
    }

    private func main(_ comparison: ProfileComparison) throws -> ComparedPhase {
        try #require(comparison.phases.first { $0.name == "Main" })
    }

    /// "name kind difference" in milliseconds.
    private func changes(_ comparison: ProfileComparison) throws -> [String] {
        let phase = try main(comparison)
        return phase.changes.map { change in
            let function = phase.topDown.nodes[change.node].function
            let wall = change.cost.difference.wall.nanoseconds / 1_000_000
            return "\(comparison.functions[function].name) \(change.kind) \(wall)"
        }
    }

    /// "name difference" of own times, in milliseconds; without those that did not change.
    private func functions(_ comparison: ProfileComparison) throws -> [String] {
        try main(comparison).functions.filter { $0.own.difference != .zero }.map {
            let wall = $0.own.difference.wall.nanoseconds / 1_000_000
            return "\(comparison.functions[$0.function].name) \(wall)"
        }
    }

    // MARK: Several launches

    /// A change counts where it is sure: `steady` grew in all launches, `shaky` in one of them.
    @Test func changesThatAreSure() throws {
        func launches(_ steady: [Int64], _ shaky: [Int64]) -> (Profile, [Profile]) {
            let all = zip(steady, shaky).map {
                launch([(spots("main", "steady"), $0), (spots("main", "shaky"), $1)])
            }
            return (all[0], Array(all.dropFirst()))
        }
        let before = launches([20, 21, 19, 20], [30, 31, 29, 30])
        let after = launches([40, 41, 39, 40], [30, 90, 29, 31])
        let comparison = ProfileComparison(
            first: Compared(before: before.0, after: after.0),
            others: Compared(before: before.1, after: after.1))
        #expect(try changes(comparison) == ["steady changed 20"])
        #expect(try functions(comparison) == ["steady 20", "shaky 15"])
        let nodes = try main(comparison).topDown.nodes
        let sure = nodes.filter { comparison.isChange($0.total.map(\.wall), $0.walls) }
        #expect(sure.map { comparison.functions[$0.function].name } == ["steady"])
        let single = ProfileComparison(
            first: Compared(before: before.0, after: after.0),
            others: Compared(before: [], after: after.1))
        #expect(try changes(single) == ["steady changed 20", "shaky changed 15"])
        #expect(single.interval(of: single.walls) == nil)
    }

    /// Differences between launches of one version are no change of a wait, an initialiser or a
    /// library either.
    @Test func factsThatAreSure() throws {
        func launches(_ steady: [Int64], _ shaky: [Int64]) -> [Profile] {
            zip(steady, shaky).map { steady, shaky in
                launch([(spots("main"), 300)]) { builder, main in
                    var time: Int64 = 2
                    for (name, length) in [("steady", steady), ("shaky", shaky)] {
                        let library = Spot("init_\(name)", "/lib/\(name).so")
                        builder.initializer(
                            library, main, from: time, to: time + length, cpu: length)
                        builder.recording.libraries.append(
                            LibraryLoad(
                                path: library.module, start: RecordingBuilder.at(2), wall: nil,
                                size: 1, requestedBy: nil, caller: nil, isInitial: true, file: nil))
                        time += length
                        builder.wait(
                            main, from: time, to: time + length, WaitReason(.lock),
                            builder.stack("main", name))
                        time += length
                    }
                }
            }
        }
        let before = launches([20, 21, 19, 20], [20, 21, 19, 20])
        let after = launches([30, 31, 29, 30], [20, 60, 10, 31])
        let several = ProfileComparison(
            first: Compared(before: before[0], after: after[0]),
            others: Compared(before: Array(before.dropFirst()), after: Array(after.dropFirst())))
        func names(_ comparison: ProfileComparison) -> [Set<String>] {
            let waits = comparison.waits.filter { comparison.isChange($0.durations, $0.walls) }
            let runs = comparison.initializers.filter { comparison.isChange($0.wall, $0.walls) }
            let libraries = comparison.libraries.filter { comparison.isChange($0.wall, $0.walls) }
            return [
                Set(waits.compactMap(\.identity.function).map { comparison.functions[$0].name }),
                Set(runs.map { comparison.functions[$0.function].name }),
                Set(libraries.map(\.name)),
            ]
        }
        #expect(names(several) == [["steady"], ["init_steady"], ["steady.so"]])
        #expect(several.waits.count == 2)
        #expect(several.waits.allSatisfy { $0.counts == Compared(before: 4, after: 4) })
        let steady = try #require(
            several.initializers.first { $0.wall.difference == .milliseconds(10) })
        let interval = try #require(several.interval(of: steady.walls))
        #expect(interval.low > .zero && interval.low < .milliseconds(10))
        #expect(interval.high > .milliseconds(10))
        // If one side is a single launch, no interval is known.
        let single = ProfileComparison(
            first: Compared(before: before[0], after: after[1]),
            others: Compared(before: [], after: Array(after.dropFirst(2))))
        #expect(names(single).allSatisfy { $0.count == 2 })
        #expect(single.initializers.allSatisfy { single.interval(of: $0.walls) == nil })
    }

    // MARK: Functions

    @Test func aFunctionThatVanished() throws {
        let before = launch([
            (spots("main", "load"), 30), (spots("main", "prewarm", "layOut"), 60),
            (spots("main", "prewarm", "breakLines"), 20),
        ])
        let after = launch([(spots("main", "load"), 30)])
        let comparison = ProfileComparison(before: before, after: after)
        #expect(try changes(comparison) == ["prewarm gone -80"])
        let tree = try main(comparison).topDown
        let names = tree.nodes.map { comparison.functions[$0.function].name }
        #expect(names == ["main", "prewarm", "load", "layOut", "breakLines"])
        #expect(tree.nodes[1].frames.after == nil)
        #expect(try functions(comparison) == ["layOut -60", "breakLines -20"])
        let back = ProfileComparison(before: after, after: before)
        #expect(try changes(back) == ["prewarm new 80"])
    }

    @Test func aFunctionThatWasRenamed() throws {
        let before = launch([(spots("main", "parse", "read"), 40)])
        let after = launch([(spots("main", "parseFast", "read"), 42)])
        let comparison = ProfileComparison(before: before, after: after)
        #expect(try changes(comparison) == ["parseFast new 42", "parse gone -40"])
        #expect(try functions(comparison) == ["read 2"])
    }

    /// Other addresses, another folder, another build id, other names of variants.
    @Test func aRebuiltBinary() throws {
        func build(_ folder: String, _ name: String, shift: Int, _ milliseconds: Int64) -> Profile {
            let program = folder + "/" + name
            let padding = (0..<shift).map { (spots("pad\($0)", module: program), Int64(1)) }
            let clone = shift == 0 ? "work [clone .isra.0]" : "work [clone .part.1]"
            let stack = [
                Spot("main", program), Spot(clone, folder + "/lib/libwork.so"),
                Spot(nil, "/usr/lib/libplain.so", file: shift == 0 ? nil : "x"),
            ]
            return launch(padding + [(stack, milliseconds)], program: program) { builder, _ in
                for index in builder.recording.modules.indices {
                    builder.recording.modules[index].buildID = [UInt8(shift)]
                }
            }
        }
        let before = build("/home/dev/old", "app", shift: 0, 50)
        let after = build("/home/dev/new", "app-mended", shift: 3, 20)
        let comparison = ProfileComparison(before: before, after: after)
        let tree = try main(comparison).topDown
        let common = tree.nodes.filter { !$0.isOneSided }.map {
            comparison.functions[$0.function].name
        }
        #expect(common.first == "main")
        #expect(common.count == 3)
        #expect(common.last == "[no symbol]")
        #expect(try changes(comparison).first?.hasSuffix("changed -30") == true)
        #expect(comparison.functions.functions.contains { $0.module == "app-mended" })
    }

    /// The same name in another library is another function.
    @Test func modulesTellFunctionsApart() throws {
        let before = launch([([Spot("main"), Spot("init", "/home/dev/liba.so")], 20)])
        let after = launch([([Spot("main"), Spot("init", "/home/dev/libb.so")], 20)])
        let comparison = ProfileComparison(before: before, after: after)
        #expect(Set(try changes(comparison)) == ["init gone -20", "init new 20"])
    }

    /// With debug information an inlined function is the same function; without, it is a part of
    /// its caller. Its callees keep their time in both.
    @Test func inliningThatChanged() throws {
        let before = launch([(spots("main", "outer", "inner", "leaf"), 40)])
        let inner = SourceFrame(function: "inner", file: "a.c", line: 1, isInlined: true)
        let inlined = launch([
            (
                [
                    Spot("main"), Spot("outer", file: "a.c", line: 9, inlined: [inner]),
                    Spot("leaf"),
                ], 40
            )
        ])
        let known = ProfileComparison(before: before, after: inlined)
        #expect(try changes(known) == [])
        #expect(try main(known).topDown.nodes.allSatisfy { !$0.isOneSided })

        let unknown = ProfileComparison(
            before: before, after: launch([(spots("main", "outer", "leaf"), 40)]))
        #expect(try functions(unknown) == [])
        let phase = try main(unknown)
        let total = phase.functions.first { unknown.functions[$0.function].name == "outer" }?.total
        #expect(total?.difference == .zero)
        #expect(Set(try changes(unknown)) == ["inner gone -40", "leaf new 40"])
    }

    /// Time in the system's code counts for the developer's code that called it.
    @Test func placesAreOwnCode() throws {
        func stack(_ leaf: String) -> [Spot] {
            [
                Spot("main"), Spot("load"), Spot("read", "/usr/lib/libc.so.6"),
                Spot(leaf, "/usr/lib/libc.so.6"),
            ]
        }
        let before = launch([(stack("a"), 30), (stack("b"), 20)])
        let after = launch([(stack("a"), 10), (stack("c"), 3)])
        let comparison = ProfileComparison(before: before, after: after)
        #expect(try changes(comparison) == ["load changed -37"])
    }

    // MARK: Phases

    @Test func aPhaseOnOneSideOnly() throws {
        let before = launch([(spots("main", "work"), 90)])
        let after = launch([(spots("main", "work"), 90)]) { builder, main in
            builder.interval("Load", "launch", main, from: 20, to: 60)
            builder.recording.images.insert(
                Image(path: "/bin/sh", arguments: [], time: RecordingBuilder.at(1)), at: 0)
            builder.recording.images[1].time = RecordingBuilder.at(4)
            builder.recording.borders.insert(
                LaunchBorder(kind: .firstInstruction, time: RecordingBuilder.at(4)), at: 2)
        }
        let comparison = ProfileComparison(before: before, after: after)
        #expect(
            comparison.phases.map(\.name) == [
                "Process creation", "Wrapper: sh", "Static initialisers", "Main", "Load",
            ])
        let load = try #require(comparison.phases.last)
        #expect(load.figures.before == nil)
        #expect(load.wall == Compared(before: .zero, after: .milliseconds(40)))
        #expect(load.changes.map(\.kind) == [.new])
        #expect(try changes(comparison) == ["work changed -40"])
        #expect(comparison.wall.difference == .zero)
        #expect(try comparison.phases(named: "wrap") == [1])
        #expect(throws: SelectionError.self) { try comparison.phases(named: "nothing") }
    }

    @Test func timeThatWasNotRecorded() throws {
        let before = launch([(spots("main"), 30)])
        let after = launch([(spots("main"), 30)]) { builder, _ in
            builder.recording.slices.removeLast()
        }
        let comparison = ProfileComparison(before: before, after: after)
        #expect(
            Set(try changes(comparison)) == ["main gone -30", "[not recorded] changed 30"])
    }

    // MARK: Facts

    @Test func waits() throws {
        func wait(_ milliseconds: Int64, at address: UInt64, _ name: String = "load") -> Profile {
            launch([(spots("main"), 100)]) { builder, main in
                builder.wait(
                    main, from: 20, to: 20 + milliseconds,
                    WaitReason(.lock, detail: "mutex", place: address),
                    builder.stack("main", name))
            }
        }
        let changed = ProfileComparison(before: wait(50, at: 0x10), after: wait(20, at: 0x20))
        #expect(changed.waits.map(\.durations.difference) == [.milliseconds(-30)])
        #expect(changed.waits.first?.identity.reason == WaitReason(.lock, detail: "mutex"))
        #expect(changed.waits.first?.identity.phase == "Main")
        let moved = ProfileComparison(
            before: wait(50, at: 0x10), after: wait(20, at: 0x10, "other"))
        #expect(moved.waits.map(\.counts.before) == [1, 0])
    }

    @Test func initialisersAndLibraries() throws {
        func loaded(_ names: [String], _ milliseconds: Int64) -> Profile {
            launch([(spots("main"), 100)]) { builder, main in
                for name in names {
                    builder.recording.libraries.append(
                        LibraryLoad(
                            path: "/home/dev/\(milliseconds)/\(name)",
                            start: RecordingBuilder.at(2),
                            wall: nil, size: 1, requestedBy: nil, caller: nil, isInitial: true,
                            file: nil))
                    builder.initializer(
                        Spot("init", "/home/dev/\(milliseconds)/\(name)"), main, from: 2,
                        to: 2 + milliseconds, cpu: milliseconds)
                }
            }
        }
        let comparison = ProfileComparison(
            before: loaded(["liba.so", "libb.so"], 6), after: loaded(["liba.so", "libc.so"], 3))
        #expect(comparison.libraries.map(\.name) == ["libb.so", "libc.so", "liba.so"])
        #expect(
            comparison.libraries.map(\.wall.difference)
                == [.milliseconds(-6), .milliseconds(3), .milliseconds(-3)])
        #expect(
            comparison.initializers.map(\.wall.difference.nanoseconds) == [
                -6_000_000, -3_000_000, 3_000_000,
            ])
    }

    // MARK: Findings

    @Test func findings() throws {
        func sleeping(_ sleeps: [(String, Int64)]) -> Profile {
            launch([(spots("main"), 400)]) { builder, main in
                var time: Int64 = 20
                for (name, length) in sleeps {
                    builder.wait(
                        main, from: time, to: time + length, WaitReason(.sleep), call: 230,
                        builder.stack("main", name))
                    time += length + 5
                }
            }
        }
        let before = sleeping([("a", 30), ("b", 50), ("c", 20)])
        let after = sleeping([("b", 20), ("c", 20), ("d", 60)])
        let comparison = ProfileComparison(before: before, after: after)
        #expect(
            comparison.findings.map(\.status.rawValue) == [
                "new", "changed", "gone", "same", "same",
            ])
        #expect(
            comparison.findings.map(\.saving.difference.nanoseconds)
                == [60_000_000, -30_000_000, -30_000_000, 0, 0])
    }

    // MARK: Bad data

    @Test func damagedRecordings() {
        let wild = launch([(spots("main"), 10)]) { builder, main in
            builder.recording.slices.append(
                Slice(
                    thread: main, start: MonotonicTime(nanoseconds: .min),
                    times: StateTimes(running: TimeSpan(nanoseconds: .max)), stack: StackID(99)))
            builder.recording.borders.append(
                LaunchBorder(kind: .ended, time: MonotonicTime(nanoseconds: .max)))
            builder.wait(main, from: 3, to: 1, WaitReason(.other), call: -5, StackID(77))
        }
        let empty = Profile(
            Recording(
                header: Recording.Header(pid: 1, isAttached: true, capture: .perf, frequency: 0)))
        for (before, after) in [(wild, empty), (empty, wild), (empty, empty), (wild, wild)] {
            let comparison = ProfileComparison(before: before, after: after)
            let sum = comparison.phases.reduce(Compared<TimeSpan>.zero) { $0 + $1.wall }
            #expect(sum == comparison.wall)
            for phase in comparison.phases {
                let own = phase.topDown.nodes.reduce(Compared<Cost>.zero) { $0 + $1.own }
                #expect(own.map(\.wall) == phase.wall)
            }
        }
    }
}
