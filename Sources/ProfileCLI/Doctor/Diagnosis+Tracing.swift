import Doctor
import Glibc
import ProfileModel
import Report
import Sampler

// MARK: What may be done to other processes

extension Diagnosis {
    var tracing: Check {
        if case .refused(let code) = facts.tracing.start {
            return Check(
                "tracing", .no, "no process can be started: \(Self.reason(code))",
                remedy: "raise the limits of processes (ulimit -u) and of the control group",
                need: .record)
        }
        guard facts.tracing.control != .worked else {
            return Check(
                "tracing", .ok, "a child can be seized and stopped, and its registers can be read")
        }
        return Check(
            "tracing", .no, "ptrace of a child \(Self.outcome(facts.tracing.control))",
            remedy: refusal(facts.tracing.control), need: .record)
    }

    var memory: Check {
        switch facts.tracing.memory {
        case .worked: Check("memory", .ok, "a child's can be read (process_vm_readv)")
        case .untried: Check("memory", .no, "not tried", remedy: Self.afterTracing, need: .record)
        case .refused(ENOSYS):
            Check(
                "memory", .no, "the kernel has no process_vm_readv",
                remedy: "use a kernel with CONFIG_CROSS_MEMORY_ATTACH", need: .record)
        default:
            Check(
                "memory", .no, "process_vm_readv of a child \(Self.outcome(facts.tracing.memory))",
                remedy: refusal(facts.tracing.memory), need: .record)
        }
    }

    var proc: Check {
        let files = facts.tracing.files
        guard !files.isEmpty else {
            return Check("/proc", .no, "not tried", remedy: Self.afterTracing, need: .record)
        }
        let failed = files.filter { $0.trial != .worked }
        guard let first = failed.first else {
            let names = files.map(\.name).joined(separator: ", ")
            return Check("/proc", .ok, "a child's \(names) can be read")
        }
        let found = failed.map { "\($0.name) \(Self.outcome($0.trial))" }.joined(separator: "; ")
        return Check("/proc", .no, found, remedy: procRemedy(first), need: .record)
    }

    private func procRemedy(_ file: TracingFacts.File) -> String {
        if facts.confinement.namespaceDepth > 1 {
            return "this /proc belongs to another PID namespace: mount one of our own (unshare "
                + "--mount-proc, or mount -t proc proc /proc)"
        }
        switch (file.name, file.trial) {
        case (_, .refused(EACCES)), (_, .refused(EPERM)): return refusal(file.trial)
        case ("syscall", .refused(ENOENT)):
            return "use a kernel with CONFIG_HAVE_ARCH_TRACEHOOK"
        case ("schedstat", _): return "use a kernel with CONFIG_SCHED_INFO (CONFIG_SCHEDSTATS)"
        case (_, .refused(ENOENT)): return "mount /proc, without hiding processes (hidepid=0)"
        default: return Self.otherKernel
        }
    }

    var capture: Check {
        switch facts.tracing.capture {
        case .ran(.untraced, let stacks, true, _) where stacks > 0:
            return Check(
                "capture", .ok,
                "/bin/sh was recorded: its phases, and \(stacks) stacks, taken by signal")
        case .ran(_, let stacks, let notesBorders, let obstacle):
            let found =
                "/bin/sh was recorded: \(stacks) stacks, "
                + (notesBorders ? "with" : "without") + " its phases, "
                + (obstacle.map { "by stops (\($0.rawValue))" } ?? "by signal")
            return Check(
                "capture", .limited, found,
                remedy: "launches are disturbed more than they need to be, and phases before main "
                    + "may be missing")
        case .failed(let reason):
            return Check(
                "capture", .no, "/bin/sh could not be recorded: \(reason)",
                remedy: "fix the problems above first", need: .record)
        case .untried:
            return Check("capture", .no, "not tried", remedy: Self.afterTracing)
        }
    }

    // MARK: Attaching

    var attaching: Check {
        let privileges = facts.privileges
        if facts.tracing.fromOutside == .worked {
            let who =
                privileges.mayTraceAnything ? "any process" : "user \(privileges.user)'s processes"
            return Check("attaching", .ok, "to \(who) \(reach)" + (yamaNote ?? ""))
        }
        if privileges.ownTracer != 0 {
            return Check(
                "attaching", .limited,
                "not tried: process \(privileges.ownTracer) traces this one",
                remedy: "run doctor without strace or debugger")
        }
        let found = "tracing a process that is no child \(Self.outcome(facts.tracing.fromOutside))"
        return Check(
            "attaching", .no, found + (yamaNote ?? ""),
            remedy: refusal(facts.tracing.fromOutside, ofChild: false), need: .attach)
    }

    private var reach: String {
        facts.confinement.hasOwnProcessIDs == true ? "in this PID namespace" : "on this machine"
    }

    private var yamaNote: String? {
        facts.privileges.yamaScope.map { " (kernel.yama.ptrace_scope is \($0))" }
    }

    var confinement: Check {
        let confinement = facts.confinement
        var found: [String] = []
        if let container = confinement.container { found.append("in a container (\(container))") }
        if confinement.hasOwnProcessIDs == true {
            found.append("in a PID namespace: only its processes can be attached to")
        }
        if confinement.seccompFilters > 0 {
            found.append("system calls are filtered (seccomp), also those of recorded programs")
        }
        return Check(
            "confinement", .ok, found.isEmpty ? "none" : found.joined(separator: "; "))
    }

    // MARK: Reasons

    /// The obstacle to tracing. The remedy depends on it.
    private func refusal(_ trial: Trial, ofChild: Bool = true) -> String {
        let (privileges, confinement) = (facts.privileges, facts.confinement)
        if privileges.ownTracer != 0 {
            return "process \(privileges.ownTracer) traces this one, and perhaps its children: run "
                + "it without strace -f or debugger"
        }
        if !privileges.mayTraceAnything || privileges.yamaScope == 3,
            let remedy = yamaRemedy(ofChild: ofChild)
        {
            return remedy
        }
        let isForbidden = [.fatal, .refused(EPERM), .refused(EACCES)].contains(trial)
        if confinement.seccompFilters > 0, isForbidden || trial == .refused(ENOSYS) {
            return "the seccomp filter forbids it, or a security policy: allow ptrace and "
                + "process_vm_readv (docker run --cap-add=SYS_PTRACE; systemd: SystemCallFilter=@debug)"
        }
        if isForbidden {
            return confinement.container == nil
                ? "a security policy forbids it (SELinux: setsebool deny_ptrace 0); run as root"
                : "a security policy forbids it: docker run --cap-add=SYS_PTRACE"
        }
        return Self.otherKernel
    }

    private func yamaRemedy(ofChild: Bool) -> String? {
        switch facts.privileges.yamaScope {
        case 1 where !ofChild:
            "Yama allows tracing one's own children only: use record, run as root, or: sysctl "
                + "kernel.yama.ptrace_scope=0"
        case 2:
            "Yama allows tracing to administrators only: run as root, or: sysctl "
                + "kernel.yama.ptrace_scope=0"
        case 3: "Yama forbids all tracing until the next boot (kernel.yama.ptrace_scope is 3)"
        default: nil
        }
    }

    static let otherKernel =
        "this kernel, or its replacement (gVisor, an emulator), does not behave "
        + "like Linux here: use another"

    private static let afterTracing = "fix tracing first"

    /// "is refused: Operation not permitted"
    static func outcome(_ trial: Trial) -> String {
        switch trial {
        case .worked: "works"
        case .refused(let code): "is refused: \(reason(code))"
        case .implausible: "gives wrong results"
        case .fatal: "is forbidden: the caller is killed (seccomp)"
        case .untried: "was not tried"
        }
    }

    static func reason(_ code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
