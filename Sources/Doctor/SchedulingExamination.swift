import Glibc
import ProcessIO
import ProfileModel

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
