import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Whole stacks, compared address by address with what the debugger finds.
@Suite(.enabled(if: Tools.has("gdb") && Tools.has("gcc"), "needs gdb and gcc")) struct DebuggerTests
{
    private static let script = """
        import gdb
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            frame = gdb.newest_frame()
            while frame is not None:
                # What was inlined or left by a tail call is on no stack.
                if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
                    print("FRAME %d %d" % (thread.ptid[1], frame.pc()))
                frame = frame.older()
        """

    private static func debuggerStacks(_ pid: Int32, _ scratch: Scratch) throws -> [Int32: [UInt64]]
    {
        try scratch.write(script, to: "stacks.py")
        let lines = try scratch.printed(by: [
            "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex",
            "set auto-load off", "-p", "\(pid)", "-ex", "set backtrace past-main on", "-ex",
            "set backtrace past-entry on", "-x", scratch.path("stacks.py"),
        ])
        var stacks: [Int32: [UInt64]] = [:]
        for line in lines where line.hasPrefix("FRAME ") {
            let words = line.split(separator: " ")
            guard words.count == 3, let tid = Int32(words[1]), let address = UInt64(words[2]) else {
                continue
            }
            stacks[tid, default: []].append(address)
        }
        return stacks
    }

    private static func ownStacks(_ subject: Subject) -> [Int32: LiveUnwinder.Stack]? {
        onTracerThread {
            let unwinder = LiveUnwinder(pid: subject.pid)
            var stacks: [Int32: LiveUnwinder.Stack] = [:]
            for tid in subject.threads {
                let tracee = Tracee(tid: tid)
                guard (try? LiveUnwinder.stop(tracee)) != nil,
                    let registers = try? tracee.registers()
                else { continue }
                stacks[tid] = unwinder.unwind(registers)
            }
            return stacks
        }
    }

    private static let programs: [[String]] = [
        ["-O2", "-fomit-frame-pointer"], ["-O0"], ["-O2", "-static", "-fno-pie", "-no-pie"],
    ]

    private static let places = [
        "recurse", "variable", "aligned", "aligned-variable", "signalled", "signalled-elsewhere",
        "sorted", "threaded", "bare", "signalled-bare",
    ]

    @Test(arguments: programs)
    func stacksAreTheDebuggers(options: [String]) throws {
        let scratch = try Scratch()
        let program = try scratch.compile(.subject, options)
        for place in Self.places {
            let subject = try Subject(program, place)
            try #require(subject.waitUntilReading())
            let own = try #require(Self.ownStacks(subject))
            let expected = try Self.debuggerStacks(subject.pid, scratch)
            #expect(own.count == (place == "threaded" ? 2 : 1))
            for (tid, stack) in own {
                let isWhole = stack.truncation == nil
                #expect(isWhole, "\(place): \(String(describing: stack.truncation))")
                let wanted = expected[tid] ?? []
                // The debugger knows nothing of code without tables and guesses there.
                if !place.hasSuffix("bare") { #expect(stack.addresses == wanted, "\(place)") }
                #expect(stack.addresses.suffix(3) == wanted.suffix(3), "\(place)")
            }
        }
    }
}
