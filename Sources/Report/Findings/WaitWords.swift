import Analysis
import Exports
import ProfileModel

/// Findings about waits: the waiting thread, the awaited object, and the thread or process to
/// blame.
extension FindingWords {
    /// " (nanosleep 50 ms)": how long the program asked to sleep, if it always asked for the same
    /// time.
    private func asked(_ wait: WaitEvidence) -> String {
        guard wait.things.count == 1 else { return isForTimer(wait) ? " until a timer" : "" }
        let times = wait.count == 1 ? "" : "\(Numbers.grouped(wait.count)) times "
        if isForTimer(wait), let timeout = wait.things[0].firstRange(of: WaitReason.timeout) {
            return " until a timer (\(times)\(wait.things[0][timeout.upperBound...]))"
        }
        return " (\(times)\(wait.things[0].withoutAddress))"
    }

    /// Whether an event loop had nothing to do until its next timer.
    func isForTimer(_ wait: WaitEvidence) -> Bool {
        wait.kind == .sleep && !wait.things.isEmpty
            && wait.things.allSatisfy {
                $0.contains(" descriptor") && $0.contains(WaitReason.timeout)
            }
    }

    /// True if the peer did not answer within the timeout.
    private func hasNoAnswer(_ wait: WaitEvidence) -> Bool {
        !wait.things.isEmpty && wait.things.allSatisfy { $0.contains(WaitReason.timeout) }
    }

    func title(of wait: WaitEvidence) -> String {
        let isMain = profile.mainThread.isMain(finding.thread, at: finding.range.lowerBound)
        let waiter = isMain ? waiter : "\(waiter), which the launch waits for,"
        let beside = wait.child.map { ", while its child \(command($0)) runs" } ?? ""
        guard wait.kind != .sleep else {
            return "\(waiter) sleeps in \(callers)" + asked(wait) + beside
        }
        let thing =
            switch wait.kind {
            case .fileWait: wait.count == 1 ? "a file" : "files"
            case .networkWait:
                hasNoAnswer(wait) ? "the network, which does not answer in time" : "the network"
            case .pipeWait: "a pipe"
            case .pollWait: "events"
            case .childWait:
                (wait.count == 1 ? "a child" : "children")
                    + (wait.things.isEmpty ? "" : " (\(list(heaviest(wait).map(\.0))))")
            case .diskWait: "pages from the disk"
            case .lockWait:
                (isForAddressSpace(wait)
                    ? "the lock of the process's memory"
                    : isForInterpreter(wait) ? "Python's interpreter lock (GIL)" : "a lock")
                    + (wait.counterpart.map { " that is held by \(words(for: $0))" } ?? "")
            default:
                wait.counterpart.map { words(for: $0, others: wait.counterparts - 1) }
                    ?? "another thread"
            }
        return "\(waiter) waits in \(callers) for \(thing)\(beside)"
    }

    /// True if threads of one process block each other while mapping, unmapping or touching memory.
    func isForAddressSpace(_ wait: WaitEvidence) -> Bool {
        wait.kind == .lockWait && wait.things == [WaitReason.addressSpace.detail]
    }

    /// True if Python threads block each other with the interpreter's lock.
    func isForInterpreter(_ wait: WaitEvidence) -> Bool {
        wait.kind == .lockWait && wait.things == [WaitReason.interpreterLock.detail]
    }

    func details(of wait: WaitEvidence) -> [String] {
        var result: [String] = []
        let things =
            wait.kind == .childWait && wait.count > 1
            ? list(
                heaviest(wait).map { thing in timed(thing.0, thing.1) }, most: Self.mostCommands)
            : wait.kind == .childWait
                ? "" : list(wait.things.map(\.withoutAddress).filter { !Self.unsaid.contains($0) })
        if wait.count > 1 {
            result.append(
                "\(Numbers.grouped(wait.count)) waits" + (things.isEmpty ? "" : ": ") + things)
        } else if !things.isEmpty {
            result.append(things)
        }
        if let other = wait.counterpart { result += details(of: other) }
        return result
    }

    /// Details that repeat the title.
    private static let unsaid = [
        "futex", "page fault", WaitReason.addressSpace.detail, WaitReason.interpreterLock.detail,
    ]

    private func details(of other: Counterpart) -> [String] {
        let times = other.times
        let states = [
            (times.running, "running"), (other.lacked, "without a core"),
            (times.blocked, "blocked"),
        ].filter { $0.0 > .zero }.map { "\(Numbers.time($0.0)) \($0.1)" }
        let label = profile.label(ofThread: other.thread)
        let stack = chain(other.stack)
        let work =
            "meanwhile \(label) was \(states.joined(separator: ", "))"
            + (stack.isEmpty ? "" : ", in \(stack)")
        var result = states.isEmpty ? [] : [work]
        if other.basis == .presumed {
            result.append(
                "it presumably waited for this thread: only this one had work to do for at least "
                    + "half of that time")
        }
        return result
    }

    /// The awaited objects, longest wait first if the lengths are known.
    private func heaviest(_ wait: WaitEvidence) -> [(String, TimeSpan?)] {
        guard wait.lengths.count == wait.things.count else { return wait.things.map { ($0, nil) } }
        return wait.things.indices.sorted {
            (wait.lengths[$1], $0) < (wait.lengths[$0], $1)
        }.map { (wait.things[$0], wait.lengths[$0]) }
    }

    /// "main thread", or the thread's name.
    var waiter: String {
        let isMain = profile.mainThread.isMain(finding.thread, at: finding.range.lowerBound)
        return isMain ? "main thread" : "thread \(profile.label(ofThread: finding.thread))"
    }

    /// "thread loader (12) of lower priority (nice 19), in readAll"
    /// - Parameter others: how many more threads with this name were waited for.
    func words(for other: Counterpart, others: Int = 0) -> String {
        let label =
            "thread \(profile.label(ofThread: other.thread))"
            + (others > 0 ? " and \(Numbers.grouped(others)) more of its name" : "")
        let priority = other.lowerPriority.map {
            " of lower priority (\($0.own.words), against \($0.waiting.words))"
        }
        let activity =
            other.child.map { ", which waits for a child (\($0.withoutAddress))" }
            ?? other.place.map { ", in \(name(of: $0))" }
        return label + (priority ?? "") + (activity ?? "")
    }
}
