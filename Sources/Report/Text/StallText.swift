import Analysis
import Exports
package import ProfileModel

/// What threads were doing when a launch should have been over, in the style of crash reports: for
/// each thread a line with the reason of its wait, and its whole stack, innermost function first.
package enum StallText {
    package static func render(_ stall: Stall, in recording: Recording) -> String {
        let stacks = LastStacks(recording)
        let names = Dictionary(stall.threads.map { ($0.tid, $0.name) }) { first, _ in first }
        return stall.threads.map { thread in
            let isMain = thread.tid == recording.header.pid
            let title =
                "Thread \(label(thread.tid, names))" + (isMain ? ", main" : "") + ": "
                + activity(of: thread, names)
            return "\n"
                + ([title] + lines(of: stacks[thread.thread], stacks.frames))
                .joined(separator: "\n") + "\n"
        }.joined()
    }

    /// `1234 'worker'`
    private static func label(_ tid: Int32, _ names: [Int32: String]) -> String {
        guard let name = names[tid], !name.isEmpty else { return "\(tid)" }
        return "\(tid) '\(name.escapedForDisplay)'"
    }

    private static func activity(of thread: StalledThread, _ names: [Int32: String]) -> String {
        switch thread.futex {
        case .mutex(let address, let owner):
            return "waits for the mutex at \(hex(address)), which thread \(label(owner, names)) "
                + (owner == thread.tid ? "(itself) holds" : "holds")
        case .readWriteLock(let address, let owner):
            return "waits for the read-write lock at \(hex(address)), which thread "
                + "\(label(owner, names)) holds"
        case .condition(let address): return "waits for the condition at \(hex(address))"
        case .semaphore(let address): return "waits for the semaphore at \(hex(address))"
        case .end(let tid): return "waits for thread \(label(tid, names)) to end"
        case .other(let address):
            return "waits in futex at \(hex(address)) (a condition, a semaphore or another lock)"
        case nil: break
        }
        if let call = thread.systemCall {
            let name = Function.wait(in: call).name.trimmingBrackets
            return call < 0 ? name + suffix(of: thread) : "waits in \(name)" + suffix(of: thread)
        }
        switch thread.state {
        case UInt8(ascii: "R"): return "runs, or waits for a core"
        case nil: return "not known"
        case let state?: return "state \(Character(UnicodeScalar(state)))"
        }
    }

    private static func suffix(of thread: StalledThread) -> String {
        switch thread.state {
        case UInt8(ascii: "D"): " (uninterruptibly)"
        case UInt8(ascii: "T"), UInt8(ascii: "t"): " (stopped)"
        default: ""
        }
    }

    private static func hex(_ address: UInt64) -> String { "0x" + String(address, radix: 16) }

    private static func lines(of stack: LastStacks.Stack?, _ frames: FrameTable) -> [String] {
        guard let stack else { return ["      (no stack)"] }
        let lines = stack.frames.map { id -> String in
            let frame = frames[id]
            let function = frames[frame.function]
            let place = frame.file.map { file in
                " (\(file.escapedForDisplay)" + (frame.line.map { ":\($0)" } ?? "") + ")"
            }
            return (function.isOwn ? "    ● " : "      ") + function.name.escapedForDisplay
                + (frame.isInlined ? " (inlined)" : "")
                + (function.moduleIndex == nil ? "" : " in " + function.module.escapedForDisplay)
                + (place ?? "")
        }
        return lines + (stack.isTruncated ? ["      … (its callers are not known)"] : [])
    }
}

extension String {
    /// `[futex]` without its brackets.
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
