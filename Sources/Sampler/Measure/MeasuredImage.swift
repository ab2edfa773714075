import CAgent
import ProfileModel

/// One image of a measured launch, and what our code in it has noted.
final class MeasuredImage {
    /// When we saw it stopped at its first instruction.
    let reached: MonotonicTime
    /// CPU time of the process at that moment; nil: unknown.
    let cpu: TimeSpan?
    /// Whether it has a dynamic linker.
    let isDynamic: Bool
    /// Whether its first instruction begins its own code: see ``ImageStart/beginsAtEntry``.
    let beginsWithMain: Bool
    /// nil: our code is not in it.
    let code: MeasuredCode?
    /// What ran, known once another image replaces it.
    var description: Image?

    init(reached: MonotonicTime, cpu: TimeSpan?, _ entered: MeasuredEntry.Result) {
        self.reached = reached
        self.cpu = cpu
        isDynamic = entered.isDynamic
        beginsWithMain = entered.beginsWithMain
        code = entered.code
    }

    var area: Area? { code?.area }

    /// A span in which our code has run, and nothing else of the program.
    struct Stretch: Hashable {
        var start: Area.UsageMoment
        var end: Area.UsageMoment
    }

    /// The cost of bringing our code in; nil: the code is not in the image.
    var entry: Stretch? { stretch(FL_STRETCH_ENTRY) }

    /// The cost of noting a border; nil: the border was not reached.
    func border(_ border: NotedBorder) -> Stretch? {
        stretch(border == .relocated ? FL_STRETCH_RELOCATED : FL_STRETCH_MAIN)
    }

    private func stretch(_ number: Int) -> Stretch? {
        guard let area, area.isSettled, let stretch = area.stretch(number) else { return nil }
        return Stretch(start: stretch.start, end: stretch.end)
    }

    /// When a thread waited for us before it executed the next program.
    var announcement: Range<MonotonicTime>? {
        guard let start = area?.time(\.ahead_ns), let end = area?.time(\.followed_ns), start < end
        else { return nil }
        return start..<end
    }
}

/// Our code in an image.
struct MeasuredCode {
    let area: Area
    /// True if our code notes when `main` begins, and when everything is relocated.
    let notesMain: Bool
    let notesRelocation: Bool
    /// What it is to change in the program before anything of it runs.
    var patches: ArraySlice<Area.Patch> = []
    /// nil: no condition waits for a signpost.
    var signposts: LaunchSignposts?
}

extension Area {
    /// A moment, and what the process had used until then.
    struct UsageMoment: Hashable {
        var time: MonotonicTime
        var cpu: TimeSpan
        var minorFaults: Int64
    }

    /// nil: not reached, or not left. The program's memory may say anything.
    func stretch(_ number: Int) -> (start: UsageMoment, end: UsageMoment)? {
        let all = self[\.stretches]
        let stretch = [all.0, all.1, all.2][number]
        let (start, end) = (UsageMoment(stretch.start), UsageMoment(stretch.end))
        guard start.time.nanoseconds > 0, start.time <= end.time, start.cpu <= end.cpu,
            start.minorFaults <= end.minorFaults
        else { return nil }
        return (start, end)
    }
}

extension Area.UsageMoment {
    fileprivate init(_ moment: fl_moment) {
        time = MonotonicTime(nanoseconds: moment.time_ns)
        cpu = TimeSpan(nanoseconds: max(0, moment.cpu_ns))
        minorFaults = max(0, moment.minor_faults)
    }
}
