import Doctor
import Glibc
import Report
import Sampler

// MARK: What the scheduler reports

extension Diagnosis {
    var scheduling: Check {
        let scheduling = facts.scheduling
        guard scheduling.switches == .worked || scheduling.wakeups == .worked else {
            return Check(
                "scheduling", .limited,
                "perf_event_open \(Self.outcome(scheduling.switches))",
                remedy: "what threads do is known from samples and counters alone, and a "
                    + "signal may cut a writev or sendmsg of megabytes short, once a second; "
                    + switchesRemedy)
        }
        guard scheduling.wakeups != .worked else {
            return Check(
                "scheduling", .ok, "every switch and wake-up of threads can be recorded")
        }
        return Check(
            "scheduling", .limited,
            "every switch of threads can be recorded, wake-ups cannot: "
                + wakeupsObstacle,
            remedy: "the critical path has only the main thread; " + wakeupsRemedy)
    }

    private var switchesRemedy: String {
        let scheduling = facts.scheduling
        guard let paranoia = scheduling.paranoia else {
            return "use a kernel with CONFIG_PERF_EVENTS"
        }
        let isForbidden = [.refused(EPERM), .refused(EACCES)].contains(scheduling.switches)
        if isForbidden, paranoia > 2 {
            return "kernel.perf_event_paranoid is \(paranoia): sysctl "
                + "kernel.perf_event_paranoid=2, or run as root"
        }
        if facts.confinement.seccompFilters > 0 {
            return "the seccomp filter forbids it: docker run --cap-add=PERFMON, or allow "
                + "perf_event_open in the profile"
        }
        return isForbidden ? "run as root, or with CAP_PERFMON" : Self.otherKernel
    }

    private var wakeupsObstacle: String {
        switch facts.scheduling.wakeups {
        case .refused(let code): "perf_event_open is refused: \(Self.reason(code))"
        case .unreadable: "/sys/kernel/tracing/events/sched cannot be read"
        case .unknownFormat: "the format of the kernel's tracepoints is unknown"
        case .foreignNumbers: "in a PID namespace, thread ids differ from those in tracepoints"
        case .worked, .untried: "not tried"
        }
    }

    private var wakeupsRemedy: String {
        switch facts.scheduling.wakeups {
        case .foreignNumbers: "run it outside of the container"
        case .unknownFormat: Self.otherKernel
        case .unreadable where facts.privileges.user == 0:
            "mount -t tracefs nodev /sys/kernel/tracing, on a kernel with CONFIG_EVENT_TRACING; for a "
                + "container: docker run --volume /sys/kernel/tracing:/sys/kernel/tracing:ro"
        case .unreadable, .refused, .worked, .untried:
            "run as root, or with CAP_PERFMON (setcap cap_perfmon=ep) and tracefs readable "
                + "(mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing)"
        }
    }
}
