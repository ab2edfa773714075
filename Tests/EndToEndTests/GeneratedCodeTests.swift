import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Stacks through code without tables in any file, and through Go's switches between stacks.
    @Suite struct GeneratedCode {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Python functions that call each other in a known order, and compute for a while.
        private static let program = """
            def inner(n):
                return sum(i * i for i in range(n))
            def middle(n):
                return max([inner(n), 0], key=lambda value: value)
            def outer(n):
                return middle(n)
            for _ in range(200):
                outer(40000)
            """

        /// An interpreter with trampolines for perf.
        static let python: String? = {
            let folder = (Setup.environment["HOME"] ?? "") + "/.pyenv/versions"
            let own = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let names = ["python3", "python3.12", "python3.13", "python3.14"]
            let candidates =
                names.compactMap(Tool.find) + own.sorted().map { "\(folder)/\($0)/bin/python3" }
            return candidates.first { path in
                // Without them the map is empty.
                let check = """
                    import os, sys; sys.activate_stack_trampoline('perf')
                    os.remove(f'/tmp/perf-{os.getpid()}.map')
                    """
                return (try? Command([path, "-c", check]).run())?.status == 0
            }
        }()

        @Test(.requires(Self.python != nil, "no CPython of 3.12 or later with -X perf"))
        func pythonsTrampolines() throws {
            let python = try #require(Self.python)
            // Without `site`, because lines of .pth files also run as modules called <string>.
            let recorded = try Firstlight.record(
                [python, "-S", "-X", "perf", "-c", Self.program], in: scratch)
            let report = try recorded.json()
            defer { unlink("/tmp/perf-\(report.program.pid).map") }
            #expect(report.launch.slices > 0)
            // The first stacks may be truncated: the mapping of the copies has not been noticed
            // yet.
            #expect(
                report.launch.truncatedStacks * 2 <= report.launch.slices,
                "\(report.launch.truncatedStacks) of \(report.launch.slices)")
            // The order of callers is as in the source.
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let order = ["<module>", "outer", "middle", "inner", "inner.<locals>.<genexpr>"]
            var seen: Int64 = 0
            for line in folded.lines where line.frames.first != "[truncated]" {
                let functions = zip(line.frames, line.functions)
                    .filter { $0.0.contains(" (<string>") }.map(\.1)
                if functions.contains(where: { $0.contains("<lambda>") }) { continue }
                #expect(functions == Array(order.prefix(functions.count)))
                if functions.count >= 4 { seen += line.count }
            }
            #expect(seen * 2 > folded.total)
        }

        /// Code without a file, at the place of a file's code and identical to it, is the file's.
        @Test(arguments: ["move", "overwrite", "memfd"])
        func codeOnLargePages(how: String) throws {
            let recorded = try Firstlight.record([try Setup.fixture("moved"), how], in: scratch)
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let known = folded.nanoseconds(through: "main", "moved_outer", "moved_inner")
            #expect(known * 2 > folded.total * 1000, "\(folded.lines)")
            let report = try recorded.json()
            #expect(report.launch.truncatedStacks * 2 < report.launch.slices)
            #expect(
                !report.modules.contains { $0.path.contains("anon") || $0.path.contains("memfd") })
        }

        /// The kernel has replaced return addresses; the original ones are found from the stack.
        @Test(
            .needsRoot, .needs("unshare"), .needs("nm"),
            .requires(Self.hasUprobes, "the kernel has no uprobes here"))
        func uretprobes() throws {
            let script = """
                mount -t tracefs none /sys/kernel/tracing 2> /dev/null
                cd /sys/kernel/tracing || exit 125
                place=$(nm "$1" | awk '$3 == "moved_inner" { print $1 }'); name=firstlight/ret$$
                echo "r:$name $1:0x$place" >> uprobe_events || exit 125
                echo 1 > events/$name/enable; shift; "$@"; status=$?
                echo 0 > events/$name/enable; echo "-:$name" >> uprobe_events
                exit $status
                """
            // A probe is in each process that runs the file, and another test's process would copy it.
            let program = scratch("probed")
            #expect(try Command(["cp", Setup.fixture("moved"), program]).run().status == 0)
            let path = scratch("recording")
            let recording = try Firstlight.recording([program, "stay"], to: path)
            let finished = try Command(
                ["unshare", "--mount", "sh", "-c", script, "sh", program] + recording.words
            ).run()
            #expect(finished.status == 0, "\(finished.error)")
            let folded = try Recorded(path: path, finished: finished)
                .folded("--no-phase", "--no-thread")
            let known = folded.nanoseconds(through: "main", "moved_outer", "moved_inner")
            #expect(known * 2 > folded.total * 1000, "\(folded.lines)")
        }

        private static var hasUprobes: Bool {
            let script = """
                mount -t tracefs none /sys/kernel/tracing 2> /dev/null
                [ -w /sys/kernel/tracing/uprobe_events ]
                """
            let command = Command(["unshare", "--mount", "sh", "-c", script])
            return (try? command.run().status) == 0
        }

        /// The content of memory decides: this is a program, of the developer's own.
        @Test(.needs("objcopy"), arguments: [true, false])
        func programsInMemory(hasBuildID: Bool) throws {
            let program = scratch("groundtruth")
            var words = ["objcopy", try Setup.fixture("groundtruth"), program]
            if !hasBuildID { words.insert("--remove-section=.note.gnu.build-id", at: 1) }
            #expect(try Command(words).run().status == 0)
            let recorded = try Firstlight.record(
                [try Setup.fixture("inmemory"), program], in: scratch)
            let report = try recorded.json()
            #expect(report.program.name == "groundtruth")
            let known = try #require(report.functions.first { $0.function == "burn_alpha" })
            #expect(known.own)
            #expect(!(try recorded.text("fold").contains("_[j]")))
        }

        /// C functions run on the thread's stack instead of the goroutine's, so their stacks begin
        /// there.
        @Test(.needs("go")) func goCallsC() throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("callingc")], in: scratch)
            let report = try recorded.json()
            #expect(report.launch.slices > 0)
            #expect(
                report.launch.truncatedStacks * 2 <= report.launch.slices,
                "\(report.launch.truncatedStacks) of \(report.launch.slices)")
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let inside = folded.lines.filter { $0.frames.contains("compute") }
            #expect(inside.reduce(0) { $0 + $1.count } * 2 > folded.total)
            #expect(inside.allSatisfy { $0.frames.first?.hasPrefix("runtime.asmcgocall") == true })
        }

        /// Where C calls back, the goroutine's stack goes on behind the function that called C.
        @Test(.needs("go")) func cCallsGo() throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("callingc"), "back"], in: scratch)
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let inside = folded.lines.filter { $0.frames.last == "main.multiply" }
            #expect(inside.reduce(0) { $0 + $1.count } * 2 > folded.total)
            for line in inside where line.frames.first != "[truncated]" {
                #expect(line.frames.first?.hasPrefix("runtime.goexit") == true, "\(line.frames)")
                let isCalled = line.frames.contains { $0.hasPrefix("main._Cfunc_haveComputed") }
                #expect(isCalled && line.frames.contains("main.main"), "\(line.frames)")
                #expect(line.frames.allSatisfy { !$0.contains("+0x") }, "\(line.frames)")
            }
        }
    }
}
