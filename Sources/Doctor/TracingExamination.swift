import CSystem
import Glibc
import ProcessIO
import ProfileModel
import System

/// Treats a child of our own as recording treats a program.
package enum TracingExamination {
    package static func run() -> TracingFacts {
        var facts = TracingFacts()
        var isFatal: Int32 = 0
        facts.fromOutside = Trial(fl_doctor_trace_from_outside(&isFatal))
        if isFatal != 0 { facts.fromOutside = .fatal }
        let child: WaitingChild
        do throws(SystemError) {
            child = try WaitingChild()
        } catch {
            facts.start = .refused(error.code)
            return facts
        }
        facts.start = .worked
        facts.files = ProcExamination.run(child.pid, input: child.input)
        facts.memory = memory(of: child.pid)
        guard isFatal == 0 else {
            facts.control = .fatal
            return facts
        }
        let pid = child.pid
        let before = facts
        facts = onTracerThread { control(pid, before) } ?? facts
        return facts
    }

    private static func memory(of pid: Int32) -> Trial {
        var length = 0
        let witness = fl_doctor_witness(&length)
        let expected = [UInt8](UnsafeRawBufferPointer(start: witness, count: length))
        var bytes = [UInt8](repeating: 0, count: length)
        let got = fl_read_memory(pid, UInt64(UInt(bitPattern: witness)), &bytes, length)
        if got < 0 { return .refused(Int32(-got)) }
        return bytes == expected ? .worked : .implausible
    }

    /// When the thread that runs this ends, the kernel detaches from the child.
    private static func control(_ pid: Int32, _ facts: TracingFacts) -> TracingFacts {
        var facts = facts
        let tracee = Tracee(tid: pid)
        facts.control = Trial { () throws(SystemError) in
            try tracee.seize()
            try tracee.interrupt()
            try waitForStop(pid)
            _ = try tracee.registers()
        }
        guard facts.control == .worked else { return facts }
        return facts
    }

    /// A system that implements ptrace incompletely might never report the stop.
    private static func waitForStop(_ pid: Int32) throws(SystemError) {
        var status: Int32 = 0
        var got: Int32 = 0
        let hasNews = Patience.wait {
            got = fl_wait(pid, 1, &status)
            return got != 0
        }
        guard hasNews else { throw SystemError("stopping a child", code: ETIMEDOUT) }
        try check(got, "stopping a child")
        guard TraceEvent(status: status) == .stopped else {
            throw SystemError("stopping a child", code: EPROTO)
        }
    }
}

/// A child that waits in read(2) until it is released, which happens when this value ends.
private struct WaitingChild: ~Copyable {
    let pid: Int32
    /// The descriptor that it reads.
    let input: Int32
    private let release: Int32

    init() throws(SystemError) {
        var (input, release): (Int32, Int32) = (-1, -1)
        pid = try check(fl_doctor_fork_waiting(&input, &release), "starting a process")
        (self.input, self.release) = (input, release)
    }

    deinit {
        close(release)
        var status: Int32 = 0
        let pid = pid
        // If the child does not notice, or hangs in a stop.
        if !Patience.wait({ fl_wait(pid, 1, &status) != 0 }) {
            kill(pid, SIGKILL)
            _ = fl_wait_briefly(pid, &status)
        }
    }
}

/// Waits for an event that usually takes microseconds, and may never happen.
package enum Patience {
    private static let limit = TimeSpan.milliseconds(1000)

    /// False if the event did not happen.
    package static func wait(_ hasHappened: () -> Bool) -> Bool {
        let deadline = MonotonicTime.now + limit
        while !hasHappened() {
            if MonotonicTime.now > deadline { return false }
            usleep(200)
        }
        return true
    }
}
