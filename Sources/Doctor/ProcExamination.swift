import Architecture
import Glibc
import ProcessIO
import ProfileModel
import System

/// Reads the same files of a child as recording reads of a program, and compares them with the
/// child's known state: it waits in read(2).
package enum ProcExamination {
    /// - Parameter input: the descriptor that the child reads.
    package static func run(_ pid: Int32, input: Int32) -> [TracingFacts.File] {
        let process = "/proc/\(pid)"
        let task = "\(process)/task/\(pid)"
        let entry = AuxiliaryVector((try? contents(process + "/auxv")) ?? []).entry
        return [
            check("syscall", in: task) { isReading($0, input) },
            check("schedstat", in: task) { (SchedulerCounters($0)?.timeslices ?? 0) > 0 },
            check("status", in: task) {
                ProcFormats.field("nonvoluntary_ctxt_switches:", $0) != nil
            },
            check("stat", in: process) { ProcessStat($0)?.isZombie == false },
            check("maps", in: process) { isCode(entry, $0) },
            check("auxv", in: process) { _ in entry != 0 },
            memory(process + "/mem", at: entry),
        ]
    }

    private static func check(
        _ name: String, in folder: String, _ isPlausible: (ProcText) -> Bool
    ) -> TracingFacts.File {
        var trial = Trial.implausible
        // The child may not have reached its read yet.
        _ = Patience.wait {
            do throws(SystemError) {
                let text = ProcText(try contents(folder + "/" + name))
                trial = isPlausible(text) ? .worked : .implausible
            } catch {
                trial = .refused(error.code)
            }
            return trial != .implausible
        }
        return .init(name: name, trial: trial)
    }

    /// True if the thread reads that descriptor: it is the first argument.
    private static func isReading(_ text: ProcText, _ input: Int32) -> Bool {
        guard case .blocked(SystemCall.read.rawValue, let registers) = ThreadActivity(text) else {
            return false
        }
        return registers.argument(0) == UInt64(clamping: input)
    }

    private static func isCode(_ address: UInt64, _ text: ProcText) -> Bool {
        ProcFormats.maps(text).contains {
            $0.isExecutable && $0.start <= address && address < $0.end
        }
    }

    private static func memory(_ path: String, at address: UInt64) -> TracingFacts.File {
        let trial = Trial { () throws(SystemError) in
            let file = try opened(path)
            try reading(path) { () throws(Errno) in
                guard try file.bytes(at: address, count: 1).count == 1 else { throw Errno(EIO) }
            }
        }
        return .init(name: "mem", trial: trial)
    }

    private static func opened(_ path: String) throws(SystemError) -> Descriptor {
        do throws(Errno) {
            return try Descriptor(path)
        } catch {
            throw SystemError("opening \(path)", code: error.number)
        }
    }

    private static func reading<Result>(
        _ path: String, _ body: () throws(Errno) -> Result
    ) throws(SystemError) -> Result {
        do throws(Errno) {
            return try body()
        } catch {
            throw SystemError("reading \(path)", code: error.number)
        }
    }

    /// All of a file, or why it cannot be opened or read (some files of `/proc` refuse only the
    /// reading).
    private static func contents(_ path: String) throws(SystemError) -> [UInt8] {
        let file = try opened(path)
        return try reading(path) { () throws(Errno) in try file.bytes(count: .max) }
    }
}
