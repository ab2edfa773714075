import ELF
import Glibc
import ProfileCLI
import ProfileModel
import Report
import Sampler
import Symbolicate
import Testing

@testable import Doctor
@testable import ProcessIO

/// Every state of every check, from made-up facts.
@Suite struct DiagnosisTests {
    /// A machine on which everything works, for an ordinary user.
    private static var facts: SystemFacts {
        var facts = SystemFacts()
        facts.machine.architecture = "x86_64"
        facts.machine.kernelRelease = "6.1.0-18-amd64"
        facts.machine.cores = 4
        facts.machine.openFiles = 1_048_576
        facts.privileges.user = 1000
        facts.tracing.start = .worked
        facts.tracing.control = .worked
        facts.tracing.memory = .worked
        facts.tracing.files = [.init(name: "syscall", trial: .worked)]
        facts.tracing.capture = .ran(
            method: .untraced, stacks: 30, notesBorders: true, obstacle: nil)
        facts.tracing.fromOutside = .worked
        facts.timer.start = .worked
        facts.timer.resolution = TimeSpan(nanoseconds: 1)
        facts.timer.lateness = [10, 20, 3000].map { TimeSpan(nanoseconds: $0 * 1000) }
        facts.sharedMemory = .worked
        facts.scheduling.switches = .worked
        facts.scheduling.wakeups = .worked
        facts.scheduling.paranoia = 2
        facts.libraryPath = "/lib/libc.so.6"
        return facts
    }

    private func checks(
        _ information: DebugInformation? = .inModule,
        _ change: (inout SystemFacts) -> Void = { _ in }
    ) -> [Check] {
        var facts = Self.facts
        change(&facts)
        return Diagnosis(facts, libraryInformation: information).checks
    }

    /// The check of a subject; each change of facts may only touch those that are named.
    private func check(
        _ subject: String, alone: Bool = true, _ change: (inout SystemFacts) -> Void
    ) throws -> Check {
        let checks = checks(.inModule, change)
        if alone {
            for check in checks where check.subject != subject {
                #expect(check.level == .ok, "\(check)")
            }
        }
        return try #require(checks.first { $0.subject == subject })
    }

    private func expect(
        _ check: Check, _ level: Check.Level, _ need: Check.Need = .none, found: String = "",
        remedy: String...
    ) {
        #expect(check.level == level, "\(check)")
        #expect(check.need == need || level != .no, "\(check)")
        #expect(found.isEmpty || check.finding.contains(found), "\(check)")
        #expect((check.remedy == nil) == (level == .ok), "\(check)")
        for word in remedy { #expect(check.remedy?.contains(word) == true, "\(check)") }
    }

    @Test func allIsWell() {
        let checks = checks()
        #expect(
            checks.map(\.subject) == [
                "machine", "tracing", "memory", "/proc", "capture", "timer",
                "attaching", "confinement", "shared memory", "scheduling",
                "open files", "cores", "symbols",
            ])
        for check in checks { expect(check, .ok) }
        #expect(Verdict(checks).canAttach)
    }

    @Test func nothingIsKnown() {
        // No trap, and no false hope.
        let checks = Diagnosis(SystemFacts(), libraryInformation: nil).checks
        #expect(!Verdict(checks).canRecord)
        for check in checks { #expect((check.remedy == nil) == (check.level == .ok)) }
    }

    // MARK: The machine

    @Test func machines() throws {
        expect(
            try check("machine") { $0.machine.architecture = "aarch64" }, .no, .record,
            found: "aarch64, Linux 6.1", remedy: "x86-64")
        for release in ["5.3.18", "4.4.0", "2.6.32"] {
            expect(
                try check("machine") { $0.machine.kernelRelease = release }, .limited,
                found: release, remedy: "5.4")
        }
        for release in ["5.4", "5.10.0-rc1+", "10.0", "odd", "", "99999999999999999999.1"] {
            expect(try check("machine") { $0.machine.kernelRelease = release }, .ok)
        }
    }

    @Test func timers() throws {
        func timer(_ change: (inout TimerFacts) -> Void) throws -> Check {
            try check("timer") { change(&$0.timer) }
        }
        expect(
            try timer { _ in }, .ok,
            found: "resolution 1 ns; 3 ticks of 1 ms were late by 20 µs (median), 3.0 ms (worst)")
        expect(try timer { $0.missed = 2 }, .ok, found: "2 were missed")
        expect(try timer { $0.missed = 3 }, .limited, remedy: "-F")
        expect(
            try timer { $0.lateness = [.milliseconds(1)] }, .limited, found: "1 ticks",
            remedy: "times stay exact")
        expect(
            try timer { $0.resolution = .milliseconds(4) }, .limited, found: "4000000 ns",
            remedy: "CONFIG_HIGH_RES_TIMERS")
        expect(try timer { $0.resolution = TimeSpan(nanoseconds: 1000) }, .ok)
        expect(try timer { $0.lateness = [] }, .no, .record, found: "no tick")
        expect(
            try timer { $0.start = .refused(EAGAIN) }, .no, .record, found: "unavailable",
            remedy: "ulimit -i")
    }

    @Test func limits() throws {
        expect(try check("open files") { $0.machine.openFiles = nil }, .ok, found: "no limit")
        expect(
            try check("open files") { $0.machine.openFiles = 4096 }, .ok, found: "640 threads")
        expect(
            try check("open files") { $0.machine.openFiles = 1024 }, .limited,
            found: "hard limit 1,024, enough for 128 threads", remedy: "nofile")
        expect(
            try check("open files") { $0.machine.openFiles = 36 }, .limited,
            found: "1 thread at once")
        for limit in [0, 35] as [UInt64] {
            expect(
                try check("open files") { $0.machine.openFiles = limit }, .no, .record,
                found: "too low for a recording", remedy: "nofile")
        }
        expect(try check("cores") { $0.machine.cores = 0 }, .ok, found: "not known")
        expect(
            try check("cores") { $0.machine.cores = 1 }, .limited, found: "1", remedy: "preempted")
    }

    @Test func symbols() throws {
        func symbols(_ information: DebugInformation?) throws -> Check {
            try #require(checks(information).last)
        }
        expect(try symbols(.inModule), .ok, found: "/lib/libc.so.6")
        expect(try symbols(.separate("/usr/lib/debug/x")), .ok, found: "/usr/lib/debug/x")
        expect(try symbols(.missing), .limited, remedy: "libc6-dbg", "glibc-debuginfo")
        expect(
            try symbols(.unknown(.cannotOpen(EACCES))), .limited, found: "Permission denied",
            remedy: "readable")
        expect(try symbols(nil), .ok)
    }

    @Test func sharedMemory() throws {
        for trial in [Trial.refused(EACCES), .refused(ENOSYS), .untried] {
            expect(
                try check("shared memory") { $0.sharedMemory = trial }, .limited,
                found: "memfd_create", remedy: "--capture signal", "memfd_noexec")
        }
    }

    // MARK: Tracing

    @Test func scheduling() throws {
        func scheduling(
            _ switches: Trial, _ wakeups: SchedulingFacts.Wakeups, paranoia: Int64? = 2,
            filters: Int64 = 0, user: UInt32 = 1000
        ) throws -> Check {
            try check("scheduling") {
                $0.scheduling.switches = switches
                $0.scheduling.wakeups = wakeups
                $0.scheduling.paranoia = paranoia
                $0.confinement.seccompFilters = filters
                $0.privileges.user = user
            }
        }
        expect(try scheduling(.worked, .worked), .ok, found: "wake-up")
        // The machine as a whole, though not a process of one's own.
        expect(try scheduling(.refused(EINVAL), .worked), .ok)
        expect(
            try scheduling(.worked, .refused(EACCES)), .limited, found: "Permission denied",
            remedy: "CAP_PERFMON", "only the main thread")
        expect(
            try scheduling(.worked, .unreadable), .limited, found: "cannot be read",
            remedy: "run as root", "tracefs")
        expect(try scheduling(.worked, .unreadable, user: 0), .limited, remedy: "mount -t tracefs")
        expect(
            try scheduling(.worked, .foreignNumbers), .limited, found: "PID namespace",
            remedy: "outside of the container")
        expect(try scheduling(.worked, .unknownFormat), .limited, remedy: "another")
        expect(
            try scheduling(.refused(EACCES), .unreadable, paranoia: 3), .limited,
            found: "Permission denied", remedy: "kernel.perf_event_paranoid=2", "samples")
        expect(try scheduling(.refused(EACCES), .unreadable), .limited, remedy: "CAP_PERFMON")
        expect(
            try scheduling(.refused(EPERM), .unreadable, filters: 1), .limited,
            remedy: "--cap-add=PERFMON")
        expect(
            try scheduling(.refused(ENOSYS), .unreadable, paranoia: nil), .limited,
            remedy: "CONFIG_PERF_EVENTS")
        expect(try scheduling(.refused(ENOSYS), .unreadable), .limited, remedy: "another")
    }

    @Test func tracing() throws {
        expect(
            try check("tracing") { $0.tracing.start = .refused(EAGAIN) }, .no, .record,
            found: "no process can be started", remedy: "ulimit -u")
        func refused(
            _ trial: Trial, _ change: (inout SystemFacts) -> Void = { _ in }
        ) throws -> Check {
            try check("tracing", alone: false) {
                $0.tracing.control = trial
                change(&$0)
            }
        }
        expect(
            try refused(.refused(EPERM)), .no, .record, found: "Operation not permitted",
            remedy: "deny_ptrace")
        expect(
            try refused(.refused(EPERM)) { $0.confinement.container = "Docker" }, .no, .record,
            remedy: "--cap-add=SYS_PTRACE")
        for trial in [Trial.refused(EPERM), .refused(EACCES), .refused(ENOSYS), .fatal] {
            expect(
                try refused(trial) { $0.confinement.seccompFilters = 1 }, .no, .record,
                remedy: "seccomp", "--cap-add=SYS_PTRACE", "SystemCallFilter")
        }
        expect(try refused(.fatal), .no, .record, found: "the caller is killed")
        expect(
            try refused(.refused(EPERM)) { $0.privileges.ownTracer = 4711 }, .no, .record,
            remedy: "process 4711", "strace -f")
        for trial in [Trial.refused(ETIMEDOUT), .refused(ENOSYS), .implausible] {
            expect(try refused(trial), .no, .record, remedy: "gVisor")
        }
    }

    @Test(arguments: [nil, 0, 1, 2, 3] as [Int64?])
    func yama(scope: Int64?) throws {
        let check = try check("tracing") {
            $0.tracing.control = .refused(EPERM)
            $0.privileges.yamaScope = scope
        }
        switch scope {
        case 2: expect(check, .no, .record, remedy: "administrators", "sysctl")
        case 3: expect(check, .no, .record, remedy: "next boot")
        default: expect(check, .no, .record, remedy: "security policy")
        }
        let asRoot = try self.check("tracing") {
            $0.tracing.control = .refused(EPERM)
            $0.privileges.yamaScope = scope
            $0.privileges.mayTraceAnything = true
        }
        expect(asRoot, .no, .record, remedy: scope == 3 ? "next boot" : "security policy")
    }

    @Test(arguments: [nil, 0, 1, 2, 3] as [Int64?])
    func attaching(scope: Int64?) throws {
        let check = try check("attaching") {
            $0.tracing.fromOutside = .refused(EPERM)
            $0.privileges.yamaScope = scope
        }
        switch scope {
        case 1: expect(check, .no, .attach, found: "is 1)", remedy: "use record", "sysctl")
        case 2: expect(check, .no, .attach, found: "is 2)", remedy: "administrators")
        case 3: expect(check, .no, .attach, found: "is 3)", remedy: "next boot")
        default: expect(check, .no, .attach, remedy: "security policy")
        }
    }

    @Test func whomToAttachTo() throws {
        func found(_ change: (inout SystemFacts) -> Void) throws -> String {
            try check("attaching", change).finding
        }
        #expect(try found { _ in } == "to user 1000's processes on this machine")
        #expect(
            try found { $0.privileges.mayTraceAnything = true } == "to any process on this machine")
        #expect(
            try found {
                $0.confinement.hasOwnProcessIDs = true
                $0.privileges.yamaScope = 0
            } == "to user 1000's processes in this PID namespace (kernel.yama.ptrace_scope is 0)")
        expect(
            try check("attaching") {
                $0.tracing.fromOutside = .refused(EPERM)
                $0.privileges.ownTracer = 12
            }, .limited, found: "process 12", remedy: "strace")
    }

    @Test func memory() throws {
        func memory(_ trial: Trial) throws -> Check {
            try check("memory") { $0.tracing.memory = trial }
        }
        expect(try memory(.refused(ENOSYS)), .no, .record, remedy: "CONFIG_CROSS_MEMORY_ATTACH")
        expect(try memory(.refused(EPERM)), .no, .record, remedy: "security policy")
        expect(try memory(.implausible), .no, .record, found: "wrong results", remedy: "gVisor")
        expect(try memory(.untried), .no, .record, remedy: "fix tracing first")
    }

    @Test func proc() throws {
        func proc(_ name: String, _ trial: Trial, depth: Int = 1) throws -> Check {
            try check("/proc") {
                $0.tracing.files = [
                    .init(name: "maps", trial: .worked), .init(name: name, trial: trial),
                ]
                $0.confinement.namespaceDepth = depth
            }
        }
        expect(try proc("stat", .worked), .ok, found: "maps, stat")
        expect(
            try proc("syscall", .refused(ENOENT)), .no, .record,
            found: "syscall is refused: No such file", remedy: "CONFIG_HAVE_ARCH_TRACEHOOK")
        expect(
            try proc("schedstat", .implausible), .no, .record, found: "wrong results",
            remedy: "CONFIG_SCHED")
        expect(try proc("schedstat", .refused(ENOENT)), .no, .record, remedy: "CONFIG_SCHED")
        expect(try proc("stat", .refused(ENOENT)), .no, .record, remedy: "hidepid")
        expect(try proc("syscall", .refused(EPERM)), .no, .record, remedy: "security policy")
        expect(try proc("syscall", .implausible), .no, .record, remedy: "gVisor")
        expect(try proc("syscall", .implausible, depth: 2), .no, .record, remedy: "--mount-proc")
        expect(
            try check("/proc") { $0.tracing.files = [] }, .no, .record, found: "not tried",
            remedy: "fix tracing")
    }

    @Test func capture() throws {
        expect(try check("capture") { _ in }, .ok, found: "30 stacks, taken by signal")
        expect(
            try check("capture") {
                $0.tracing.capture = .ran(
                    method: .ptrace, stacks: 12, notesBorders: false, obstacle: .filtered)
            }, .limited, found: "12 stacks, without its phases, by stops (filtered)",
            remedy: "disturbed more")
        // Nothing that was not seen to work is called so.
        expect(
            try check("capture") {
                $0.tracing.capture = .ran(
                    method: .untraced, stacks: 0, notesBorders: true, obstacle: nil)
            }, .limited, found: "0 stacks")
        expect(
            try check("capture") { $0.tracing.capture = .failed("no such thing") }, .no, .record,
            found: "no such thing")
        let check = try check("capture", alone: false) {
            $0.tracing.capture = .untried
            $0.tracing.control = .refused(EPERM)
        }
        expect(check, .no, remedy: "fix tracing first")
    }

    @Test func confinement() throws {
        #expect(try check("confinement") { _ in }.finding == "none")
        let check = try check("confinement") {
            $0.confinement.container = "Docker"
            $0.confinement.hasOwnProcessIDs = true
            $0.confinement.seccompFilters = 2
        }
        expect(check, .ok, found: "in a container (Docker); in a PID namespace")
        #expect(check.finding.contains("seccomp"))
    }
}
