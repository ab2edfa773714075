import CAgent
import ProfileModel

/// One image of a launch that is measured, and what our code in it has noted.
final class MeasuredImage {
    /// When it was seen to stand at its first instruction.
    let reached: MonotonicTime
    /// CPU time of the process then; nil: not known.
    let cpu: TimeSpan?
    /// Whether it has a dynamic linker.
    let isDynamic: Bool
    /// nil: our code is not in it.
    let code: MeasuredCode?
    /// What ran, known as soon as another image takes its place.
    var description: Image?

    init(reached: MonotonicTime, cpu: TimeSpan?, _ entered: MeasuredEntry.Result) {
        self.reached = reached
        self.cpu = cpu
        isDynamic = entered.isDynamic
        code = entered.code
    }

    var area: Area? { code?.area }

    /// Where our code has run, and nothing else of the program.
    struct Stretch: Hashable {
        var start: Area.UsageMoment
        var end: Area.UsageMoment
    }

    /// What it took to bring our code in; nil: it is not in it.
    var entry: Stretch? { stretch(FL_STRETCH_ENTRY) }

    /// What it took to note a border; nil: that was not reached.
    func border(_ border: LaunchBorder) -> Stretch? {
        stretch(border == .relocated ? FL_STRETCH_RELOCATED : FL_STRETCH_MAIN)
    }

    private func stretch(_ number: Int) -> Stretch? {
        guard let area, area.isSettled, let stretch = area.stretch(number) else { return nil }
        return Stretch(start: stretch.start, end: stretch.end)
    }

    /// When and for how long a thread has waited for us before it executed the next program.
    var announcement: Range<MonotonicTime>? {
        guard let start = area?.time(\.ahead_ns), let end = area?.time(\.followed_ns), start < end
        else { return nil }
        return start..<end
    }
}

/// Our code in an image.
struct MeasuredCode {
    let area: Area
    /// Whether it notes when `main` begins, and when everything is relocated.
    let notesMain: Bool
    let notesRelocation: Bool
    /// nil: nobody waits for any.
    var signposts: LaunchSignposts?
}

extension Area {
    /// A moment, and what the process had used by then.
    struct UsageMoment: Hashable {
        var time: MonotonicTime
        var cpu: TimeSpan
        var minorFaults: Int64
    }

    /// What the program's own memory says may be anything; nil: it was not reached, or not left.
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
