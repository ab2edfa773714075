package import Architecture
import CAgent
import CSystem
import Glibc
package import ProfileModel

/// ptrace(2) on one thread. Each request's failure is a ``SystemError``; `ESRCH` means that the
/// thread is gone or not stopped, which can happen at any moment.
package struct Tracee: Hashable, Sendable {
    package let tid: Int32

    package init(tid: Int32) {
        self.tid = tid
    }

    /// - Parameter followingChildren: traces also the processes that the thread forks.
    package func seize(followingChildren: Bool = false) throws(SystemError) {
        let options = fl_trace_options | (followingChildren ? fl_trace_children : 0)
        try check(fl_ptrace_seize(tid, options), "tracing thread \(tid)")
    }

    /// Traces also the processes that the thread forks; none of them stops at its end.
    package func seizeWithChildren() throws(SystemError) {
        let options = fl_trace_options & ~fl_trace_ends | fl_trace_children
        try check(fl_ptrace_seize(tid, options), "tracing thread \(tid)")
    }

    /// Traces only its execs; apart from those, only signals stop it.
    package func seizeForExec() throws(SystemError) {
        try check(fl_ptrace_seize(tid, fl_trace_exec), "tracing thread \(tid)")
    }

    package func interrupt() throws(SystemError) {
        try check(fl_ptrace_interrupt(tid), "stopping thread \(tid)")
    }

    /// Resumes a stopped thread, delivering `signal` unless 0.
    package func resume(delivering signal: Int32 = 0) throws(SystemError) {
        try check(fl_ptrace_continue(tid, signal), "resuming thread \(tid)")
    }

    /// Resumes a stopped thread until it begins or ends a system call.
    package func resumeToCall() throws(SystemError) {
        try check(fl_ptrace_continue_to_call(tid), "resuming thread \(tid)")
    }

    /// Leaves a thread stopped that the user has stopped, but lets it report events.
    package func listen() throws(SystemError) {
        try check(fl_ptrace_listen(tid), "leaving thread \(tid) stopped")
    }

    /// Detaches from a stopped thread and resumes it, delivering `signal` unless 0.
    package func detach(delivering signal: Int32 = 0) throws(SystemError) {
        try check(fl_ptrace_detach(tid, signal), "releasing thread \(tid)")
    }

    /// What the event was about: the new thread of a clone, the former id of an exec.
    package func eventMessage() throws(SystemError) -> UInt64 {
        var message: UInt64 = 0
        try check(fl_ptrace_event_message(tid, &message), "reading thread \(tid)'s event")
        return message
    }

    /// Waits until the thread has left its core, so that its scheduler figures are exact
    /// afterwards.
    package func registers() throws(SystemError) -> Registers {
        Registers(try rawRegisters())
    }

    private func rawRegisters() throws(SystemError) -> fl_registers {
        var raw = fl_registers()
        try check(fl_ptrace_get_registers(tid, &raw), "reading thread \(tid)'s registers")
        return raw
    }

    /// The address at which a stopped thread resumes. An interrupted system call is restarted from
    /// there.
    package func resumeAddress() throws(SystemError) -> UInt64 {
        var resume: UInt64 = 0
        try check(fl_ptrace_resume_address(tid, &resume), "reading thread \(tid)'s registers")
        return resume
    }

    /// Repeats a call that the stop has ended with EINTR when the thread resumes, unless a handler
    /// is called then, as the kernel does with most calls. A call that was cut short returns all
    /// that it would have returned without us.
    ///
    /// - Parameter places: where our code is in the program, if the thread may make calls there;
    ///   nil: we help only without such calls.
    package func keepCall(restAt places: RestOfCall.Places?) throws(SystemError) {
        let raw = try rawRegisters()
        let registers = Registers(raw)
        guard raw.code_segment == Machine.codeSegment,
            let number = UInt32(exactly: raw.call_number),
            let result = registers[Registers.result], let second = registers.argument(1)
        else { return }
        let setting = "setting thread \(tid)'s registers"
        if Int64(bitPattern: result) == -Int64(EINTR) {
            guard fl_may_be_repeated(number, second) != 0 else { return }
            try check(fl_ptrace_restart_call(tid), setting)
        } else if let filling = FillingCall(number, of: tid, registers) {
            try check(fl_ptrace_set_result(tid, UInt64(filling.complete())), setting)
        } else if let places,
            let rest = RestOfCall(
                number, of: tid, registers, flags: raw.flags, at: places),
            !dispatchesCalls
        {
            try rest.lead(tid)
        }
    }

    /// Writes whole words, ignoring the memory's protection.
    package func write(_ bytes: [UInt8], at address: UInt64) throws(SystemError) {
        for offset in stride(from: 0, to: bytes.count, by: 8) {
            guard let word = bytes.littleEndianWord(at: offset) else { return }
            try check(
                fl_ptrace_write(tid, address &+ UInt64(offset), word),
                "writing to thread \(tid)'s memory")
        }
    }

    /// True if a stopped thread must resume where it is, because it is within a restartable
    /// sequence (rseq(2)). After a diversion it would return into the sequence without aborting it.
    package var isInSequence: Bool { fl_ptrace_in_sequence(tid) == 1 }

    /// True if a stopped thread may make system calls only from certain places, and so not from our
    /// code. Unknown before Linux 6.4, and false then.
    package var dispatchesCalls: Bool { fl_ptrace_dispatches_calls(tid) == 1 }

    /// Whether a stopped thread comes from a system call, which it may have to restart.
    package var isInCall: Bool { fl_ptrace_in_call(tid) == 1 }

    /// Makes a stopped thread resume in a piece of our code (``AgentCode``), in one step, with its
    /// signals blocked. The thread returns by itself, and then restarts the system call that it was
    /// in.
    ///
    /// - Returns: the state to restore if the thread is stopped before it returns.
    @discardableResult
    package func divert(to address: UInt64) throws(SystemError) -> State {
        var state = State(raw: fl_thread_state())
        try check(
            fl_ptrace_divert(tid, address, &state.raw), "moving thread \(tid)'s position")
        return state
    }

    /// The part of a thread's state that a diversion changes.
    package struct State {
        fileprivate var raw: fl_thread_state
    }

    /// Moves a stopped thread back to where it was diverted from. Events in the meantime end or
    /// restart its call, as if the thread had never left it.
    package func restore(_ state: State) throws(SystemError) {
        var raw = state.raw
        try check(fl_ptrace_restore(tid, &raw), "moving thread \(tid) back")
    }
}

extension Registers {
    fileprivate init(_ raw: fl_registers) {
        self.init()
        withUnsafeBytes(of: raw.dwarf) { bytes in
            for number in 0..<Self.count {
                self[number] = bytes.loadUnaligned(fromByteOffset: 8 * number, as: UInt64.self)
            }
        }
    }
}

/// An event of a traced thread that waitpid(2) reports.
package enum TraceEvent: Hashable, Sendable {
    case exited(status: Int32)
    case killed(signal: Int32)
    /// A signal is about to be delivered.
    case signal(Int32)
    /// The thread cloned another one, forked a process, started another program, or is about to
    /// exit.
    case cloned
    case forked
    case executed
    case exiting
    /// Our interrupt, or a new thread's first stop.
    case stopped
    /// The user stopped the process (`SIGSTOP`, Ctrl-Z …).
    case groupStop(signal: Int32)
    /// The start or end of a system call, if the thread was resumed to stop there.
    case call

    /// True for a stop before a signal. A thread that asked to be traced itself (PTRACE_TRACEME)
    /// makes no other kind of stop.
    package var isSignal: Bool {
        guard case .signal = self else { return false }
        return true
    }

    /// How it ended, if it did.
    package var outcome: Recording.Outcome? {
        switch self {
        case .exited(let status): .exited(status)
        case .killed(let signal): .signalled(signal)
        default: nil
        }
    }

    /// Decodes a wait status; see ptrace(2), "Stopped states".
    package init?(status: Int32) {
        let low = status & 0x7F
        if low == 0 {
            self = .exited(status: (status >> 8) & 0xFF)
            return
        }
        guard low == 0x7F else {
            self = .killed(signal: low)
            return
        }
        let signal = (status >> 8) & 0xFF
        switch status >> 16 {
        case 0: self = signal == SIGTRAP | 0x80 ? .call : .signal(signal)
        case 1, 2: self = .forked  // PTRACE_EVENT_FORK, PTRACE_EVENT_VFORK
        case 3: self = .cloned  // PTRACE_EVENT_CLONE
        case 4: self = .executed  // PTRACE_EVENT_EXEC
        case 6: self = .exiting  // PTRACE_EVENT_EXIT
        case 128:  // PTRACE_EVENT_STOP
            self = signal == 5 ? .stopped : .groupStop(signal: signal)
        default: return nil
        }
    }
}
