import Glibc
package import System

/// Why a program could not be started, or a process not be observed. Each says in one line what
/// failed, where, why, and what to do.
package enum SamplerError: Error, Hashable, CustomStringConvertible {
    case programNotFound(String)
    case programIsDirectory(String)
    case programNotExecutable(String, code: Int32)
    case interpreterMissing(String, interpreter: String)
    case programGainsPrivileges(String)
    case programUnreadable(String)
    case noSuchProcess(Int32)
    case zombie(Int32)
    case firstThreadEnded(Int32)
    case kernelThread(Int32)
    case itself(Int32)
    case alreadyTraced(Int32, tracer: Int32)
    case notPermitted(Int32, reason: PermissionRule)
    case systemCall(SystemError)
    /// So few files may be open at once that a recording could be lost.
    case tooFewDescriptors(limit: UInt64, needed: Int)
    /// The recorder would not find the memory that it needs. In bytes.
    case tooLittleAddressSpace(limit: UInt64, needed: UInt64)
    /// Something that a ``ReadyCondition`` needs is not available.
    case cannotWatch(String, reason: String)

    package init(_ shortage: DescriptorReserve.Shortage) {
        self = .tooFewDescriptors(limit: shortage.limit, needed: shortage.needed)
    }

    /// The rule that forbids tracing a process, and so decides what would help.
    package enum PermissionRule: Hashable, Sendable {
        case otherUser(owner: UInt32)
        /// `/proc/sys/kernel/yama/ptrace_scope`, 1 … 3.
        case yama(scope: Int)
        /// Even root is refused.
        case capability
        case unknown
    }

    /// The exit status that env(1) and timeout(1) use for the same failure.
    package var exitStatus: Int32 {
        switch self {
        case .programNotFound: 127
        case .programIsDirectory, .programNotExecutable, .interpreterMissing: 126
        default: 125
        }
    }

    package var description: String {
        switch self {
        case .programNotFound(let name):
            name.contains(" ")
                ? "cannot run '\(name)': there is no program of that name; give the program and each "
                    + "argument as words of their own: \(name)"
                : name.contains("/")
                    ? "cannot run '\(name)': no such file"
                    : "cannot run '\(name)': not found in PATH (for a file in this folder: ./\(name))"
        case .programIsDirectory(let path):
            "cannot run '\(path)': it is a directory"
        case .programNotExecutable(let path, let code):
            code == EACCES
                ? "cannot run '\(path)': not executable (chmod +x, or name its interpreter)"
                : "cannot run '\(path)': \(String(cString: strerror(code)))"
        case .interpreterMissing(let path, let interpreter):
            "cannot run '\(path)': its interpreter '\(interpreter)' does not exist"
        case .programGainsPrivileges(let path):
            "cannot record '\(path)': it gains privileges by its file mode (setuid, setgid or "
                + "capabilities), which the kernel withholds from traced programs; run as root"
        case .programUnreadable(let path):
            "cannot record '\(path)': you may execute its file but not read it, and so the kernel lets "
                + "only root see what it does; run as root"
        case .noSuchProcess(let pid):
            "cannot attach to \(pid): no such process"
        case .zombie(let pid):
            "cannot attach to \(pid): it has exited already (a zombie)"
        case .firstThreadEnded(let pid):
            "cannot attach to \(pid): its first thread has ended (pthread_exit), and without that "
                + "nothing can be brought in; record it from its start"
        case .kernelThread(let pid):
            "cannot attach to \(pid): it is a kernel thread, with no program to look at"
        case .itself(let pid):
            "cannot attach to \(pid): that is this recorder itself"
        case .alreadyTraced(let pid, let tracer):
            "cannot attach to \(pid): process \(tracer) traces it already (a debugger, strace?)"
        case .notPermitted(let pid, let reason):
            "cannot attach to \(pid): not permitted: \(reason.description)"
        case .systemCall(let error):
            error.description
        case .tooFewDescriptors(let limit, let needed):
            "too few files may be open at once: the limit is \(limit), and Firstlight needs "
                + "\(needed) besides those that are open already; raise it: ulimit -n 256 (in a "
                + "container: --ulimit nofile=256)"
        case .tooLittleAddressSpace(let limit, let needed):
            "too little address space: the limit is \(limit >> 20) MiB, and a recording needs "
                + "\(needed >> 20 + 1) MiB; raise it: ulimit -v \((needed >> 20 + 1) << 10)"
        case .cannotWatch(let condition, let reason):
            "cannot wait for '\(condition)': \(reason)"
        }
    }
}

extension SamplerError.PermissionRule: CustomStringConvertible {
    package var description: String {
        switch self {
        case .otherUser(let owner):
            "it belongs to user \(owner); run as that user or as root"
        case .yama(1):
            "Yama allows tracing one's own children only (kernel.yama.ptrace_scope is 1); start "
                + "it with 'firstlight record', run as root, or: sysctl kernel.yama.ptrace_scope=0"
        case .yama(2):
            "Yama allows tracing to administrators only (kernel.yama.ptrace_scope is 2); run as "
                + "root, or: sysctl kernel.yama.ptrace_scope=0"
        case .yama(let scope):
            "Yama forbids all tracing (kernel.yama.ptrace_scope is \(scope)) until the next boot"
        case .capability:
            "root has no right to trace it here (CAP_SYS_PTRACE; in a container: "
                + "--cap-add=SYS_PTRACE), or a security policy forbids it (SELinux: setsebool "
                + "deny_ptrace 0)"
        case .unknown:
            "it has other privileges than this recorder, or a security policy forbids it (in a "
                + "container: --cap-add=SYS_PTRACE); run as root"
        }
    }
}
