import CSystem
import ProfileModel
import Unwind

@testable import Sampler

/// Unwinds the threads of a live process as the recorder does: stopped by ptrace, from a snapshot.
struct LiveUnwinder: ~Copyable {
    let pid: Int32
    private let memory: TargetMemory
    private let unwinder = Unwinder()
    private var watch: MappingWatch
    private var biases: [ModuleIndex: UInt64] = [:]

    /// A stack in the process's own addresses, innermost first.
    struct Stack: Sendable, Equatable {
        var addresses: [UInt64]
        var truncation: Truncation?
    }

    init(pid: Int32) {
        self.pid = pid
        memory = TargetMemory(pid: pid)
        watch = MappingWatch(pid: pid)
        refresh()
    }

    mutating func refresh() {
        guard let code = watch.refreshed(at: .now) else { return }
        for mapping in unwinder.update(code, at: .now) { biases[mapping.module] = mapping.bias }
    }

    /// Where a module's code lies, by the end of its path.
    func bias(ofModule suffix: String) -> UInt64? {
        unwinder.modules.firstIndex { $0.path.hasSuffix(suffix) }.flatMap {
            biases[ModuleIndex($0)]
        }
    }

    /// Stops a thread that goes about its business.
    static func stop(_ tracee: Tracee) throws(SystemError) {
        try tracee.seize()
        try tracee.interrupt()
        var status: Int32 = 0
        try check(fl_wait(tracee.tid, 0, &status), "waiting for the stop")
    }

    /// Lets a stopped thread execute one instruction; false when something else happened.
    static func step(_ tracee: Tracee) throws(SystemError) -> Bool {
        try check(fl_ptrace_step(tracee.tid), "stepping")
        var status: Int32 = 0
        try check(fl_wait(tracee.tid, 0, &status), "waiting for the step")
        return TraceEvent(status: status) == .signal(5)
    }

    func unwind(_ registers: Registers) -> Stack {
        // The red zone below the stack pointer, and as much above as a test's stacks need.
        let start = registers.stackPointer &- 128
        let stack = StackCopy(start: start, bytes: memory.read(at: start, count: 32768))
        let pointer = SignalFrame.interruptedStackPointer(
            behind: stack, at: registers.stackPointer)
        let interrupted = pointer.map {
            StackCopy(start: $0, bytes: memory.read(at: $0, count: 32768))
        }
        let callstack = unwinder.unwind(
            Snapshot(registers: registers, stack: stack, interrupted: interrupted))
        return Stack(
            addresses: callstack.frames.map { frame in
                frame.address.value &+ (frame.module.flatMap { biases[$0] } ?? 0)
            }, truncation: callstack.truncation)
    }

    func bytes(at address: UInt64, count: Int) -> [UInt8] { memory.read(at: address, count: count) }
}
