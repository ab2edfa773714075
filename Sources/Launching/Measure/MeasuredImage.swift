package import Agent
import CAgent
package import ProfileModel

/// One image of a measured launch, and the notes of our code in it.
package final class MeasuredImage {
    /// When we saw it stopped at its first instruction.
    package let reached: MonotonicTime
    /// CPU time of the process at that moment; nil: unknown.
    package let cpu: TimeSpan?
    /// Whether it has a dynamic linker.
    package let isDynamic: Bool
    /// Whether its first instruction begins its own code: see ``ImageStart/beginsAtEntry``.
    package let beginsWithMain: Bool
    /// nil: our code is not in it.
    package let code: MeasuredCode?
    /// The program and its arguments, known once another image replaces it.
    package var description: Image?

    package init(reached: MonotonicTime, cpu: TimeSpan?, _ entered: MeasuredEntry.Result) {
        self.reached = reached
        self.cpu = cpu
        isDynamic = entered.isDynamic
        beginsWithMain = entered.beginsWithMain
        code = entered.code
    }

    package var area: AgentMemory? { code?.area }

    /// A span in which only our code, and no other code of the program, has run.
    package struct Stretch: Hashable {
        package var start: AgentMemory.UsageMoment
        package var end: AgentMemory.UsageMoment
    }

    /// The cost of bringing our code in; nil: the code is not in the image.
    package var entry: Stretch? { stretch(FL_STRETCH_ENTRY) }

    /// The cost of noting a border; nil: the border was not reached.
    package func border(_ border: NotedBorder) -> Stretch? {
        stretch(border == .relocated ? FL_STRETCH_RELOCATED : FL_STRETCH_MAIN)
    }

    private func stretch(_ number: Int) -> Stretch? {
        guard let area, area.isSettled, let stretch = area.stretch(number) else { return nil }
        return Stretch(start: stretch.start, end: stretch.end)
    }

    /// When a thread waited for us before it executed the next program.
    package var announcement: Range<MonotonicTime>? {
        guard let start = area?.time(\.ahead_ns), let end = area?.time(\.followed_ns), start < end
        else { return nil }
        return start..<end
    }
}

/// Our code in an image.
package struct MeasuredCode {
    package let area: AgentMemory
    /// True if our code notes when `main` begins, and when everything is relocated.
    package let notesMain: Bool
    package let notesRelocation: Bool
    /// The changes that our code makes in the program before anything of it runs.
    package var patches: ArraySlice<AgentMemory.Patch> = []
    /// nil: no condition waits for a signpost.
    package var signposts: LaunchSignposts?
}

extension AgentMemory {
    /// A moment, and the process's use of resources until then.
    package struct UsageMoment: Hashable {
        package var time: MonotonicTime
        package var cpu: TimeSpan
        package var minorFaults: Int64
    }

    /// nil: it has not begun, or not ended. The program's memory may hold anything.
    package func stretch(_ number: Int) -> (start: UsageMoment, end: UsageMoment)? {
        let all = self[\.stretches]
        let stretch = [all.0, all.1, all.2][number]
        let (start, end) = (UsageMoment(stretch.start), UsageMoment(stretch.end))
        guard start.time.nanoseconds > 0, start.time <= end.time, start.cpu <= end.cpu,
            start.minorFaults <= end.minorFaults
        else { return nil }
        return (start, end)
    }
}

extension AgentMemory.UsageMoment {
    fileprivate init(_ moment: fl_moment) {
        time = MonotonicTime(nanoseconds: moment.time_ns)
        cpu = TimeSpan(nanoseconds: max(0, moment.cpu_ns))
        minorFaults = max(0, moment.minor_faults)
    }
}
