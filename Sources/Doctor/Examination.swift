import CSystem
import Glibc
import ProcessIO

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
