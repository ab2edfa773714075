import Glibc
package import ProcessIO

/// Tells why a process cannot be attached to: by checks before the attempt, or from its failure.
package enum AttachCheck {
    package static func check(_ pid: Int32) throws(SamplerError) {
        let files = ProcessFiles(pid: pid)
        guard pid > 0, let stat = files.stat() else { throw .noSuchProcess(pid) }
        if pid == getpid() { throw .itself(pid) }
        if stat.isZombie { throw files.hasLivingThreads ? .firstThreadEnded(pid) : .zombie(pid) }
        if stat.isKernelThread { throw .kernelThread(pid) }
        if let tracer = files.status("TracerPid:"), tracer != 0 {
            // TracerPid names the tracing thread, not its process.
            let tracer = Int32(truncatingIfNeeded: tracer)
            let process = ProcessFiles(pid: tracer).status("Tgid:") ?? Int64(tracer)
            throw .alreadyTraced(pid, tracer: Int32(truncatingIfNeeded: process))
        }
        // A thread's id has files under `/proc`, too, but names no process.
        if let group = files.status("Tgid:"), group != Int64(pid) { throw .noSuchProcess(pid) }
    }

    package static func explain(_ pid: Int32, _ error: SystemError) -> SamplerError {
        switch error.code {
        case ESRCH: .noSuchProcess(pid)
        case EPERM, EACCES: explainRefusal(pid)
        default: .systemCall(error)
        }
    }

    /// An ending process has no memory any more, and the kernel permits no access to it.
    private static func explainRefusal(_ pid: Int32) -> SamplerError {
        let files = ProcessFiles(pid: pid)
        guard let stat = files.stat() else { return .noSuchProcess(pid) }
        if stat.isZombie, !files.hasLivingThreads { return .zombie(pid) }
        return .notPermitted(
            pid,
            reason: rule(
                owner: files.status("Uid:"), user: geteuid(), yamaScope: yamaScope()))
    }

    /// The first rule that explains a refusal, given the facts.
    package static func rule(
        owner: Int64?, user: UInt32, yamaScope: Int64?
    ) -> SamplerError.PermissionRule {
        if let owner, owner != Int64(user), user != 0 {
            return .otherUser(owner: UInt32(truncatingIfNeeded: owner))
        }
        if let yamaScope, yamaScope > 0, user != 0 || yamaScope > 2 {
            return .yama(scope: Int(yamaScope))
        }
        return user == 0 ? .capability : .unknown
    }

    private static func yamaScope() -> Int64? {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/sys/kernel/yama/ptrace_scope")
        var text = buffer.text
        return text.decimal()
    }
}
