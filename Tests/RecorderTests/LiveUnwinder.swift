import Architecture
import CSystem
import ProfileModel
import System
import Unwind

@testable import ProcessIO
@testable import Sampler

/// Unwinds the threads of a live process as the recorder does: stopped by ptrace, from a snapshot.
struct LiveUnwinder: ~Copyable {
    let pid: Int32
    private let memory: TargetMemory
    private let unwinder: Unwinder
    private var watch: MappingWatch
    private var biases: [ModuleIndex: UInt64] = [:]

    /// A stack in the process's own addresses, innermost first.
    struct Stack: Sendable, Equatable {
        var addresses: [UInt64]
        /// The positions of frames that have made no call: the first frame, frames that signals
        /// interrupted, and frames that their handlers return to.
        var instructions: [Int]
        var truncation: Truncation?
    }

    init(pid: Int32, by unwinder: Unwinder = Unwinder()) {
        self.pid = pid
        self.unwinder = unwinder
        memory = TargetMemory(pid: pid)
        watch = MappingWatch(KernelAddressSpace(pid: pid))
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

    /// Stops a running thread.
    static func stop(_ tracee: Tracee) throws(SystemError) {
        try tracee.seize()
        try tracee.interrupt()
        var status: Int32 = 0
        try check(fl_wait(tracee.tid, 0, &status), "waiting for the stop")
    }

    /// Lets a stopped thread execute one instruction, or call the handler of a signal.
    ///
    /// - Returns: the signal that it stopped for; SIGTRAP: the step is done.
    static func step(
        _ tracee: Tracee, delivering signal: Int32 = 0
    ) throws(SystemError) -> Int32? {
        try check(fl_ptrace_step(tracee.tid, signal), "stepping")
        var status: Int32 = 0
        try check(fl_wait(tracee.tid, 0, &status), "waiting for the step")
        guard case .signal(let number) = TraceEvent(status: status) else { return nil }
        return number
    }

    /// As much as a test's stacks need: the memory above the stack pointer, and below it the red
    /// zone, which the recorder copies, and perf does not.
    func snapshot(_ registers: Registers, redZone: UInt64 = 128) -> Snapshot {
        let start = registers.stackPointer &- redZone
        let stack = StackCopy(start: start, bytes: memory.read(at: start, count: 32768))
        let pointer = SignalFrame.interruptedStackPointer(
            behind: stack, at: registers.stackPointer)
        let interrupted = pointer.map {
            StackCopy(start: $0, bytes: memory.read(at: $0, count: 32768))
        }
        return Snapshot(registers: registers, stack: stack, interrupted: interrupted)
    }

    func unwind(_ registers: Registers) -> Stack { unwind(snapshot(registers)) }

    func unwind(_ snapshot: Snapshot) -> Stack {
        let callstack = unwinder.unwind(snapshot)
        return Stack(
            addresses: callstack.frames.map { frame in
                frame.address.value &+ (frame.module.flatMap { biases[$0] } ?? 0)
            },
            instructions: callstack.frames.indices.filter {
                callstack.frames[$0].address.kind == .instruction
            }, truncation: callstack.truncation)
    }

    func bytes(at address: UInt64, count: Int) -> [UInt8] { memory.read(at: address, count: count) }

    func word(at address: UInt64) -> UInt64? {
        let bytes = bytes(at: address, count: 8)
        return bytes.count == 8 ? bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } : nil
    }
}
