import Architecture
import CSystem
import Glibc
import Launching
import ProcessIO
import ProfileModel
import Sampler
import System

/// Gathers the facts. Takes about a tenth of a second, and leaves nothing behind.
package enum Examination {
    /// Call it while this process has no other thread: it waits for signals of a timer.
    package static func run() -> SystemFacts {
        // If it were ignored, we could not wait for our children.
        signal(SIGCHLD, SIG_DFL)
        var facts = SystemFacts()
        facts.machine = machine()
        facts.privileges = privileges()
        facts.confinement = ConfinementFacts.ofThisProcess()
        facts.tracing = TracingExamination.run()
        if facts.tracing.control == .worked { facts.tracing.capture = CaptureExamination.run() }
        facts.timer = TimerExamination.run()
        facts.scheduling = SchedulingExamination.run()
        facts.sharedMemory = Trial(fl_doctor_share_memory(1 << 16))
        facts.libraryPath = libraryPath()
        return facts
    }

    private static func machine() -> MachineLimits {
        var facts = MachineLimits()
        var names = utsname()
        if uname(&names) == 0 {
            facts.architecture = text(of: names.machine)
            facts.kernelRelease = text(of: names.release)
        }
        facts.cores = Int(fl_doctor_cores())
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            limit.rlim_max != rlim_t.max
        {
            facts.openFiles = UInt64(limit.rlim_max)
        }
        return facts
    }

    private static func text<Characters>(of characters: Characters) -> String {
        withUnsafeBytes(of: characters) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private static func privileges() -> PrivilegeFacts {
        var facts = PrivilegeFacts()
        var buffer = ReadBuffer()
        facts.user = geteuid()
        buffer.readAll(path: "/proc/self/status")
        let capabilities = ProcFormats.mask("CapEff:", buffer.text) ?? 0
        facts.mayTraceAnything = capabilities >> 19 & 1 != 0  // CAP_SYS_PTRACE
        facts.ownTracer = ProcFormats.field("TracerPid:", buffer.text) ?? 0
        buffer.readAll(path: "/proc/sys/kernel/yama/ptrace_scope")
        var scope = buffer.text
        facts.yamaScope = scope.decimal()
        return facts
    }

    /// The mapped file whose name is that of a C library.
    private static func libraryPath() -> String? {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/self/maps")
        return ProcFormats.maps(buffer.text).first { line in
            let name = line.path.split(separator: "/").last ?? ""
            return name.hasPrefix("libc.so.") || name.hasPrefix("libc-2.")
        }?.path
    }
}

extension Trial {
    /// From a shim's result.
    init(_ result: Int32) { self = result < 0 ? .refused(-result) : .worked }

    init(_ body: () throws(SystemError) -> Void) {
        do {
            try body()
            self = .worked
        } catch {
            self = .refused(error.code)
        }
    }
}

/// Asks the kernel for the events that a recorder would ask for, of our own process.
package enum SchedulingExamination {
    package static func run() -> SchedulingFacts {
        var facts = SchedulingFacts()
        facts.switches = Trial { () throws(SystemError) in
            _ = try ThreadSwitches(first: getpid())
        }
        facts.wakeups = wakeups()
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/sys/kernel/perf_event_paranoid")
        var text = buffer.text
        let isNegative = text.peek() == UInt8(ascii: "-")
        if isNegative { text.advance() }
        facts.paranoia = text.decimal().map { isNegative ? -$0 : $0 }
        return facts
    }

    private static func wakeups() -> SchedulingFacts.Wakeups {
        let points: SchedulerTracepoints
        do throws(SchedulerTracepoints.Obstacle) {
            points = try SchedulerTracepoints()
        } catch {
            switch error {
            case .unreadable: return .unreadable
            case .unknownFormat: return .unknownFormat
            case .foreignNumbers: return .foreignNumbers
            }
        }
        do throws(SystemError) {
            _ = try MachineSchedule(points, pid: getpid(), threads: [])
            return .worked
        } catch {
            return .refused(error.code)
        }
    }
}

/// Makes a recorder's timer tick for a moment.
package enum TimerExamination {
    private static let ticks = 50

    package static func run() -> TimerFacts {
        var facts = TimerFacts()
        var resolution = timespec()
        if clock_getres(CLOCK_MONOTONIC, &resolution) == 0 {
            facts.resolution = TimeSpan(
                nanoseconds: Int64(resolution.tv_sec) * 1_000_000_000 + Int64(resolution.tv_nsec))
        }
        var set = tickSignal
        var previous = sigset_t()
        pthread_sigmask(SIG_BLOCK, &set, &previous)
        facts.start = Trial { () throws(SystemError) in try measure(&facts) }
        discardTicks()
        pthread_sigmask(SIG_SETMASK, &previous, nil)
        return facts
    }

    private static func measure(_ facts: inout TimerFacts) throws(SystemError) {
        let frequency = 1_000_000_000 / TimerFacts.interval.nanoseconds
        var ticker = try Ticker(frequency: Int32(clamping: frequency))
        ticker.start()
        var set = tickSignal
        for _ in 0..<ticks {
            var taken = fl_signal()
            try check(fl_wait_signal(&set, &taken), "waiting for the timer")
            let before = ticker.lateness
            ticker.serve(overrun: taken.overrun, at: .now)
            facts.lateness.append(ticker.lateness - before)
        }
        facts.missed = ticker.missed
    }

    private static var tickSignal: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, fl_tick_signal())
        return set
    }

    /// A tick left behind by a deleted timer would kill us once it is no longer blocked.
    private static func discardTicks() {
        var set = tickSignal
        var now = timespec()
        while (try? retrying { sigtimedwait(&set, nil, &now) }) != nil {}
    }
}

/// Records a program that does nothing of interest, as `record` would, and examines the recording.
package enum CaptureExamination {
    /// Some tens of milliseconds of counting.
    private static let program = [
        "/bin/sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done",
    ].map { CommandWord($0) }

    package static func run() -> TracingFacts.Capture {
        let sink = CountingSink()
        var options = SamplerOptions(duration: .milliseconds(2000))
        options.asksScheduler = false
        do throws(SamplerError) {
            let outcome = try Sampler.launch(
                program, options: options, signals: SignalQueue(), sink: sink)
            let reason = outcome.notes.first { note in
                TracingFacts.Capture.obstacles.contains(note.kind)
            }
            return .ran(
                method: outcome.capture, stacks: sink.stacks, notesBorders: sink.hasRelocation,
                obstacle: reason?.kind)
        } catch {
            return .failed(error.description)
        }
    }
}

extension TracingFacts.Capture {
    /// Notes that say why stacks of a process were not taken by signal.
    fileprivate static let obstacles: Set<RecorderNote.Kind> = [
        .ownHandler, .displaced, .filtered, .noCallSite, .occupied, .noRoom, .limited,
        .unmapped, .unwritable, .lateEntry, .shadowStack, .otherClock,
    ]
}

/// Counts stacks that have all registers.
private final class CountingSink: SampleSink, @unchecked Sendable {
    private(set) var stacks = 0
    private(set) var hasRelocation = false

    func receive(_ event: SamplerEvent) {
        switch event {
        case .sample(let sample):
            if case .snapshot(let snapshot) = sample.content,
                snapshot.registers.framePointer != nil
            {
                stacks += 1
            }
        case .border(let border): hasRelocation = hasRelocation || border.kind == .relocated
        default: break
        }
    }

    func takeRefinements() -> [StackRefinement] { [] }
    var hasFailed: Bool { false }
}
