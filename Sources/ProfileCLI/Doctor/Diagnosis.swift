import Architecture
package import Doctor
import ELF
import Exports
import Glibc
import ProfileModel
package import Report
import Sampler
package import Symbolicate
import System

/// Turns facts into their consequences for recording, and remedies. Pure.
package struct Diagnosis {
    let facts: SystemFacts
    private let libraryInformation: DebugInformation?

    /// - Parameter libraryInformation: for the C library; nil if it was not found.
    package init(_ facts: SystemFacts, libraryInformation: DebugInformation?) {
        self.facts = facts
        self.libraryInformation = libraryInformation
    }

    /// By importance for recording.
    package var checks: [Check] {
        [
            machine, tracing, memory, proc, capture, timer, attaching, confinement,
            sharedMemory, scheduling, openFiles, cores, symbols,
        ]
    }
}

// MARK: The machine

extension Diagnosis {
    var machine: Check {
        let (architecture, release) = (facts.machine.architecture, facts.machine.kernelRelease)
        let found = "\(architecture), Linux \(release)"
        guard architecture == Machine.name else {
            return Check(
                "machine", .no, found,
                remedy: "Firstlight knows the registers and calls of x86-64 only; use such a "
                    + "machine (an emulator cannot trace)",
                need: .record)
        }
        guard Self.isOlder(release, than: (5, 4)) else { return Check("machine", .ok, found) }
        return Check(
            "machine", .limited, found, remedy: "tested from Linux 5.4 on; use a newer kernel")
    }

    /// False for anything that is not a version.
    static func isOlder(_ release: String, than wanted: (major: Int, minor: Int)) -> Bool {
        let numbers = release.split(separator: ".").prefix(2).compactMap {
            Int($0.prefix { $0.isNumber })
        }
        guard numbers.count == 2 else { return false }
        return (numbers[0], numbers[1]) < wanted
    }

    var timer: Check {
        let timer = facts.timer
        if case .refused(let code) = timer.start {
            return Check(
                "timer", .no, "no timer can be made: \(Self.reason(code))",
                remedy: "raise the limit of pending signals: ulimit -i", need: .record)
        }
        let sorted = timer.lateness.sorted()
        guard let resolution = timer.resolution, let worst = sorted.last else {
            return Check(
                "timer", .no, "no tick arrived", remedy: Self.otherKernel, need: .record)
        }
        let median = sorted[sorted.count / 2]
        let found =
            "resolution \(resolution.nanoseconds) ns; \(sorted.count) ticks of 1 ms were "
            + "late by \(Numbers.time(median)) (median), \(Numbers.time(worst)) (worst)"
            + (timer.missed > 0 ? "; \(timer.missed) were missed" : "")
        if resolution.nanoseconds > 1_000 {
            return Check(
                "timer", .limited, found,
                remedy: "there are no high-resolution timers, so stacks are rare (times stay "
                    + "exact); use a kernel with CONFIG_HIGH_RES_TIMERS, not started with highres=off"
            )
        }
        if median >= TimerFacts.interval || timer.missed >= sorted.count {
            return Check(
                "timer", .limited, found,
                remedy: "ticks come after the next one is due, so stacks are rarer than asked for "
                    + "(times stay exact): close other programs, or use -F 100")
        }
        return Check("timer", .ok, found)
    }

    var openFiles: Check {
        guard let limit = facts.machine.openFiles else {
            return Check("open files", .ok, "no limit")
        }
        let remedy =
            "raise it in /etc/security/limits.conf (nofile), or with LimitNOFILE= or docker --ulimit"
        // Besides the three standard streams.
        guard limit >= DescriptorReserve.least + 4 else {
            return Check(
                "open files", .no, "hard limit \(Numbers.grouped(limit)), too low for a recording",
                remedy: remedy, need: .record)
        }
        // Up to six descriptors per thread are kept open.
        let threads = Int64(clamping: max(1, DescriptorReserve.kept(of: limit) / 6))
        let found =
            "hard limit \(Numbers.grouped(limit)), enough for "
            + "\(Numbers.count(threads, "thread")) at once"
        // INR_OPEN_MAX of the kernel's fs.h.
        guard limit < 4096 else { return Check("open files", .ok, found) }
        return Check(
            "open files", .limited, found,
            remedy: "threads beyond that are read in turn, so more ticks are missed, and the "
                + "scheduler does not tell of them; the kernel's own limit is 4096: " + remedy)
    }

    var cores: Check {
        switch facts.machine.cores {
        case 0: Check("cores", .ok, "not known (more than 1024)")
        case 1:
            Check(
                "cores", .limited, "1",
                remedy: "the recorder takes time from the program, shown as preempted; give it a "
                    + "second core (taskset, cpuset, docker --cpuset-cpus), or use -F 100")
        case let count: Check("cores", .ok, "\(count)")
        }
    }

    var sharedMemory: Check {
        guard case .worked = facts.sharedMemory else {
            return Check(
                "shared memory", .limited,
                "memfd_create \(Self.outcome(facts.sharedMemory))",
                remedy: "record --capture signal needs it, ptrace (the default) does not; allow "
                    + "memfd_create in the seccomp profile, or: sysctl vm.memfd_noexec=0")
        }
        return Check("shared memory", .ok, "memfd_create works")
    }

    var symbols: Check {
        guard let path = facts.libraryPath, let information = libraryInformation else {
            return Check("symbols", .ok, "no C library is loaded that could have any")
        }
        switch information {
        case .inModule: return Check("symbols", .ok, "\(path) has debug information")
        case .separate(let file):
            return Check("symbols", .ok, "debug information of \(path): \(file)")
        case .unknown(let error):
            return Check(
                "symbols", .limited, "\(path): \(error.description)",
                remedy: "its functions are shown as addresses; make it readable")
        case .missing:
            return Check(
                "symbols", .limited, "no debug information for \(path)",
                remedy: "its functions have no lines, and some no names; install it: "
                    + "apt-get install libc6-dbg (Debian, Ubuntu), dnf debuginfo-install glibc "
                    + "(Fedora), zypper install glibc-debuginfo (openSUSE)")
        }
    }
}

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
