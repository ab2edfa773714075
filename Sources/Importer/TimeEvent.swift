import PerfData
import ProfileModel

/// The event whose samples tell of time, and what it and the others say.
struct TimeEvent {
    /// Position in the file's events; nil: there are switches only.
    let index: Int?
    private let event: PerfEvent?
    let switchFormat: SwitchFormat?
    private let switchEvents: Set<Int>
    let recordsSwitches: Bool

    init(_ file: PerfFile) {
        let events = file.events
        index =
            events.firstIndex(where: \.isClock) ?? events.firstIndex { !$0.isTracepoint }
        event = index.map { events[$0] }
        let format = SwitchFormat(tracingData: file.tracingData)
        switchFormat = format
        switchEvents = Set(
            events.indices.filter { events[$0].isTracepoint && events[$0].config == format?.id }
                // Some switches say nothing of the others: all of them must have been recorded.
                .filter { !events[$0].isFrequency && events[$0].periodOrFrequency == 1 })
        recordsSwitches = events.contains(where: \.recordsSwitches)
    }

    var knowsSwitches: Bool { recordsSwitches || !switchEvents.isEmpty }

    /// What a sample says of a switch; nil: it is of another event.
    func switchTold(by sample: PerfSample) -> (isPushed: Bool, next: Int32)? {
        guard switchEvents.contains(sample.event) else { return nil }
        return switchFormat?.read(sample.raw)
    }

    /// Samples a second; 0: not known.
    var frequency: Int32 {
        guard let event, event.periodOrFrequency > 0 else { return 0 }
        if event.isFrequency { return Int32(clamping: event.periodOrFrequency) }
        return event.isClock ? Int32(clamping: 1_000_000_000 / event.periodOrFrequency) : 0
    }

    /// For how much CPU time each sample stands where the event is no clock: what was asked for,
    /// or, where that were events, a millisecond. nil: samples tell themselves.
    var assumed: TimeSpan? {
        guard let event, !event.isClock else { return nil }
        return event.isFrequency && frequency > 0
            ? TimeSpan(nanoseconds: 1_000_000_000 / Int64(frequency)) : .milliseconds(1)
    }

    /// No sample stands for more.
    private static let longest: Int64 = 10_000_000_000

    /// For how much CPU time a sample stands.
    func cpu(of sample: PerfSample) -> TimeSpan {
        assumed ?? TimeSpan(nanoseconds: min(Int64(clamping: sample.period), Self.longest))
    }

    /// "cpu-clock at 999 Hz, --call-graph dwarf,8192, with switches"
    var description: String {
        guard let event else { return "sched:sched_switch" }
        var parts = [event.displayName]
        if event.isFrequency {
            parts[0] += " at \(event.periodOrFrequency) Hz"
        } else {
            parts[0] += ", 1 sample in \(event.periodOrFrequency)"
        }
        if event.hasStacks {
            parts.append("--call-graph dwarf,\(event.stackBytes)")
        } else {
            parts.append(event.hasCallchains ? "--call-graph fp" : "without call graphs")
        }
        if knowsSwitches { parts.append("with switches") }
        return parts.joined(separator: ", ")
    }
}
