import Analysis
import MadeRecordings
import ProfileModel
import Testing

/// One thread that runs for 100 ms.
private func attached() -> (RecordingBuilder, ThreadIndex) {
    var builder = RecordingBuilder(attached: true, images: [("/home/dev/app", 0)])
    builder.border(.attached, 0)
    builder.border(.ended, 100)
    let main = builder.thread("app", tid: 100, to: 100, isMain: true)
    return (builder, main)
}

/// "  name total/self" in milliseconds, indented by depth.
private func describe(_ tree: CallTree) -> [String] {
    func lines(_ range: Range<Int>, _ indent: String) -> [String] {
        range.flatMap { index in
            let node = tree.nodes[index]
            let total = tree.weight.of(node.total).nanoseconds / 1_000_000
            let own = tree.weight.of(node.own).nanoseconds / 1_000_000
            return ["\(indent)\(tree.function(of: node).name) \(total)/\(own)"]
                + lines(node.children, indent + "  ")
        }
    }
    return lines(tree.roots, "")
}

@Suite struct CallTreeTests {
    @Test func mergesByFunctionAndShowsTheHottestLine() {
        var (builder, main) = attached()
        func stack(_ line: Int32, _ leaf: String) -> StackID? {
            builder.stack([.init("main", file: "/src/main.c", line: line), .init(leaf)])
        }
        builder.slice(main, at: 0, running: 10, stack(3, "parse"))
        builder.slice(main, at: 10, running: 30, stack(5, "render"))
        builder.slice(main, at: 40, running: 25, stack(3, "parse"))
        let tree = Profile(builder.recording).topDown(weight: .cpu)
        #expect(describe(tree) == ["main 65/0", "  parse 35/35", "  render 30/30"])
        let root = tree.nodes[tree.roots.lowerBound]
        #expect(tree.frame(of: root).line == 3)
        #expect(tree.frame(of: root).file == "/src/main.c")
    }

    @Test func equalWeightsAreOrderedByName() {
        var (builder, main) = attached()
        for (index, name) in ["c", "a", "b"].enumerated() {
            builder.slice(main, at: Int64(index) * 10, running: 10, builder.stack("main", name))
        }
        let tree = Profile(builder.recording).topDown(weight: .cpu)
        #expect(describe(tree).dropFirst() == ["  a 10/10", "  b 10/10", "  c 10/10"])
    }

    @Test func sameNameInTwoModulesIsTwoFunctions() {
        var (builder, main) = attached()
        let own = builder.stack([.init("init", "/home/dev/liba.so")])
        let system = builder.stack([.init("init", "/usr/lib/libb.so")])
        builder.slice(main, at: 0, running: 20, own)
        builder.slice(main, at: 20, running: 10, system)
        let profile = Profile(builder.recording)
        let functions = profile.functions(orderedBy: .cpu).map { profile.frames[$0.function] }
        #expect(functions.map(\.module) == ["liba.so", "libb.so"])
        #expect(functions.map(\.isOwn) == [true, false])
    }

    /// An interrupt is not what the thread asked for; a call and a fault are. A stack that has nothing else keeps it.
    @Test(arguments: [
        (["asm_sysvec_irq_work"], ["main", "work"]),
        (
            ["asm_sysvec_apic_timer_interrupt", "sysvec_apic_timer_interrupt", "irq_exit_rcu"],
            ["main", "work"]
        ),
        (
            ["entry_SYSCALL_64", "vfs_read", "asm_common_interrupt", "handle_irq"],
            ["main", "work", "entry_SYSCALL_64", "vfs_read"]
        ),
        (
            ["entry_SYSCALL_64", "__schedule", "__perf_event_task_sched_in", "perf_ctx_enable"],
            ["main", "work", "entry_SYSCALL_64", "__schedule"]
        ),
        (
            ["asm_exc_page_fault", "handle_mm_fault"],
            ["main", "work", "asm_exc_page_fault", "handle_mm_fault"]
        ),
        (
            ["entry_SYSCALL_64", "__x64_sys_perf_event_open", "perf_event_alloc"],
            ["main", "work", "entry_SYSCALL_64", "__x64_sys_perf_event_open", "perf_event_alloc"]
        ),
    ])
    func interruptsAreTimeOfWhatTheyInterrupt(kernel: [String], shown: [String]) {
        var (builder, main) = attached()
        let own: [RecordingBuilder.Spot] = [.init("main"), .init("work")]
        let stack = builder.stack(own + kernel.map { .init($0, Module.kernelPath) })
        builder.slice(main, at: 0, running: 20, stack)
        builder.slice(main, at: 20, running: 10, stack, truncation: .stackLimit)
        let profile = Profile(builder.recording)
        let figures = profile.functions(orderedBy: .cpu)
        let names = Set(figures.map { profile.frames[$0.function].name })
        #expect(names == Set(shown + ["[truncated]"]))
        let innermost = figures.first { profile.frames[$0.function].name == shown.last }
        #expect(innermost?.own.running == .milliseconds(30))
    }

    @Test func anInterruptAloneIsShown() {
        var (builder, main) = attached()
        builder.slice(
            main, at: 0, running: 20, builder.stack([.init("asm_exc_nmi", Module.kernelPath)]))
        let tree = Profile(builder.recording).topDown(weight: .cpu)
        #expect(describe(tree) == ["asm_exc_nmi 20/20"])
    }

    @Test func recursionCountsOnceInTotals() {
        var (builder, main) = attached()
        builder.slice(main, at: 0, running: 10, builder.stack("main", "walk", "walk", "walk"))
        builder.slice(main, at: 10, running: 5, builder.stack("main", "walk", "visit", "walk"))
        builder.slice(main, at: 15, running: 1, builder.stack("walk", "main"))
        let profile = Profile(builder.recording)
        let figures = profile.functions(orderedBy: .cpu).map { figures in
            let name = profile.frames[figures.function].name
            let own = figures.own.running.nanoseconds / 1_000_000
            return "\(name) \(own) \(figures.total.running.nanoseconds / 1_000_000)"
        }
        #expect(figures == ["walk 15 16", "main 1 16", "visit 0 5"])
    }

    @Test func bottomUpShowsCallers() {
        var (builder, main) = attached()
        builder.slice(main, at: 0, running: 10, builder.stack("main", "a", "memcpy"))
        builder.slice(main, at: 10, running: 30, builder.stack("main", "b", "memcpy"))
        builder.slice(main, at: 40, running: 20, builder.stack("main", "b"))
        let profile = Profile(builder.recording)
        #expect(
            describe(profile.bottomUp(weight: .cpu)) == [
                "memcpy 40/40", "  b 30/0", "    main 30/0", "  a 10/0", "    main 10/0",
                "b 20/20", "  main 20/0",
            ])
        #expect(
            describe(profile.bottomUp(weight: .cpu, depth: 2)) == [
                "memcpy 40/40", "  b 30/0", "  a 10/0", "b 20/20", "  main 20/0",
            ])
        #expect(
            describe(profile.bottomUp(weight: .cpu, minPercent: 50)) == [
                "memcpy 40/40", "  b 30/0", "    main 30/0",
            ])
    }

    @Test func wallNamesWhatWasWaitedFor() {
        var (builder, main) = attached()
        let stack = builder.stack("main", "wait")
        builder.slice(main, at: 0, running: 1, blocked: 9, stack, call: 202)
        builder.slice(main, at: 10, blocked: 20, stack, call: 0)
        builder.slice(main, at: 30, blocked: 5, stack, call: -1)
        builder.slice(main, at: 35, running: 2, blocked: 4, stack)
        builder.slice(main, at: 41, blocked: 3, stack, call: 9999)
        let profile = Profile(builder.recording)
        #expect(
            describe(profile.topDown(weight: .wall)) == [
                "main 44/0", "  wait 44/3", "    [read] 20/20", "    [futex] 9/9",
                "    [blocked outside a system call] 5/5", "    [blocked] 4/4",
                "    [system call 9999] 3/3",
            ])
        #expect(describe(profile.topDown(weight: .cpu)) == ["main 3/0", "  wait 3/3"])
        // Functions are charged for their waits themselves.
        let functions = profile.functions(orderedBy: .wall)
        #expect(functions.map { profile.frames[$0.function].name } == ["wait", "main"])
        #expect(functions.first?.own.wall == .milliseconds(44))
        // The line of the waiting function holds its waits in trees that do not name them.
        let wait = profile.topDown(weight: .cpu).nodes.last
        #expect(wait?.own.blocked == .milliseconds(41))
    }

    @Test func runnableIsEveryWaitForACore() {
        var (builder, main) = attached()
        builder.slice(
            main, at: 0, running: 1, runnable: 2, preempted: 4, blocked: 8, builder.stack("main"))
        #expect(
            describe(Profile(builder.recording).topDown(weight: .runnable)) == ["main 6/6"])
    }

    @Test func timeWithoutStackIsShownButIsNoPath() {
        var (builder, main) = attached()
        builder.slice(main, at: 0, running: 30, nil)
        builder.slice(main, at: 30, running: 10, builder.stack("main"))
        let profile = Profile(builder.recording)
        #expect(
            describe(profile.topDown(weight: .cpu)) == ["[no stack] 30/30", "main 10/10"])
        let stack = profile.heaviestStack(weight: .cpu)
        #expect(stack.entries.map { profile.frames.function(of: $0.frame).name } == ["main"])
        #expect(stack.total.running == .milliseconds(40))
    }

    @Test func truncatedStacksDoNotPretendToBeRoots() {
        var (builder, main) = attached()
        let stack = builder.stack("lost", "leaf")
        builder.slice(main, at: 0, running: 10, stack, truncation: .noRule)
        builder.slice(main, at: 10, running: 30, stack)
        #expect(
            describe(Profile(builder.recording).topDown(weight: .cpu)) == [
                "lost 30/0", "  leaf 30/30", "[truncated] 10/0", "  lost 10/0", "    leaf 10/10",
            ])
    }

    @Test func inlinedFramesAreFramesOfTheirOwn() {
        var (builder, main) = attached()
        let inlined = [
            SourceFrame(function: "square", file: "math.h", line: 7, isInlined: true),
            SourceFrame(function: "multiply", file: "math.h", line: 2, isInlined: true),
        ]
        let stack = builder.stack([.init("main", file: "main.c", line: 4, inlined: inlined)])
        builder.slice(main, at: 0, running: 10, stack)
        let tree = Profile(builder.recording).topDown(weight: .cpu)
        #expect(describe(tree) == ["main 10/0", "  square 10/0", "    multiply 10/10"])
        #expect(tree.nodes.map { tree.frame(of: $0).isInlined } == [false, true, true])
        #expect(tree.nodes.map { tree.frame(of: $0).line } == [4, 7, 2])
    }

    @Test func codeWithoutSymbolsIsNamedByItsPlace() {
        var (builder, main) = attached()
        let library = builder.module("/opt/app/libfast.so.1")
        func frame(_ module: ModuleIndex?, _ address: CodeAddress) -> FrameAddress {
            FrameAddress(module: module, address: address)
        }
        let stack = builder.recording.stacks.intern(outermostFirst: [
            frame(nil, CodeAddress(0x7f00_1001, .returnAddress)),
            frame(library, CodeAddress(0x1d31, .returnAddress)),
            frame(library, CodeAddress(0x2abc, .instruction)),
        ])
        builder.slice(main, at: 0, running: 10, stack)
        let tree = Profile(builder.recording).topDown(weight: .cpu)
        let functions = tree.nodes.map { tree.function(of: $0) }
        #expect(
            functions.map(\.name) == [
                "0x7f001000", "libfast.so.1+0x1d30", "libfast.so.1+0x2abc",
            ])
        #expect(functions.map(\.module) == ["[unknown]", "libfast.so.1", "libfast.so.1"])
        #expect(functions.map(\.isOwn) == [false, true, true])
    }

    @Test func modulesCountTheSlicesTheyOccurIn() {
        var (builder, main) = attached()
        let app = "/home/dev/app"
        let libc = "/usr/lib/libc.so.6"
        let callback = builder.stack([.init("main", app), .init("qsort", libc), .init("less", app)])
        let quiet = builder.module("/usr/lib/libquiet.so")
        builder.slice(main, at: 0, running: 10, callback)
        builder.slice(main, at: 10, running: 10, callback, truncation: .noRule)
        builder.slice(main, at: 20, running: 10, builder.stack("main"))
        builder.recording.mappings = [7, 4].map {
            Mapping(
                start: 0, end: 1, bias: 0, module: ModuleIndex(0), time: RecordingBuilder.at($0))
        }
        builder.recording.symbols.modules[quiet] = ModuleSymbols(
            debugInfoPath: "/usr/lib/debug/x", debugInfoOrigin: .buildID,
            symbolOrigin: .complete)
        let modules = Profile(builder.recording).modules
        #expect(modules.map(\.path) == [app, libc, "/usr/lib/libquiet.so"])
        #expect(modules.map(\.slices) == [3, 2, 0])
        #expect(modules.map(\.loaded) == [.milliseconds(4), nil, nil])
        #expect(modules.map(\.hasDebugInfo) == [false, false, true])
    }

    @Test(arguments: [
        (0 as Int32, "[read]"), (7, "[poll]"), (202, "[futex]"), (232, "[epoll_wait]"),
        (230, "[clock_nanosleep]"), (334, "[rseq]"), (424, "[pidfd_send_signal]"),
        (449, "[futex_waitv]"), (462, "[mseal]"), (400, "[system call 400]"),
        ((1 << 29) | 162, "[32-bit system call 162]"), (.max, "[system call 2147483647]"),
        (.min, "[blocked outside a system call]"),
    ])
    func systemCallsHaveTheirNames(number: Int32, name: String) {
        #expect(Function.wait(in: number).name == name)
        #expect(Function.wait(in: number).module == "[kernel]")
    }
}
