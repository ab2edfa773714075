import PerfData
import ProfileModel

/// The event whose samples measure time, and the facts from it and the other events. Several events
/// may be one clock together.
struct TimeEvent {
    /// The events that are the clock, by their positions in the file; empty: there are only
    /// switches.
    private let clocks: [Int: PerfEvent]
    /// The first of them.
    private let event: PerfEvent?
    let switchFormat: SwitchFormat?
    private let switchEvents: Set<Int>
    let recordsSwitches: Bool

    init(_ file: PerfFile) {
        let events = file.events
        // An event that counts in the program's code and in the kernel's covers all of the time.
        let first =
            events.firstIndex { $0.isClock && $0.modes.isSuperset(of: [.user, .kernel]) }
            ?? events.firstIndex(where: \.isClock) ?? events.firstIndex(where: \.mayMeasureTime)
        event = first.map { events[$0] }
        clocks = Self.clocks(in: events, from: first)
        let format = SwitchFormat(tracingData: file.tracingData)
        switchFormat = format
        switchEvents = Set(
            events.indices.filter { events[$0].isTracepoint && events[$0].config == format?.id }
                // A sampled subset of the switches would be useless: all must have been recorded.
                .filter { !events[$0].isFrequency && events[$0].periodOrFrequency == 1 })
        recordsSwitches = events.contains(where: \.recordsSwitches)
    }

    /// An event, and the events that complement it and each other.
    private static func clocks(in events: [PerfEvent], from first: Int?) -> [Int: PerfEvent] {
        guard let first else { return [:] }
        var clocks = [first: events[first]]
        for (index, event) in events.enumerated()
        where index != first && clocks.values.allSatisfy({ event.isComplement(of: $0) }) {
            clocks[index] = event
        }
        return clocks
    }

    /// Whether times are those of a clock that counts from 1970 (`CLOCK_REALTIME`, `CLOCK_TAI`).
    var countsFromEpoch: Bool { event?.clock == 0 || event?.clock == 11 }

    /// Whether the file has an event that measures time.
    var isThere: Bool { event != nil }

    var clockCount: Int { clocks.count }

    /// Whether a sample measures time.
    func measures(_ sample: PerfSample) -> Bool { clocks[sample.event] != nil }

    /// nil: the clocks are sampled themselves.
    var groupCounts: GroupCounts? { GroupCounts(clocks.values) }

    var knowsSwitches: Bool { recordsSwitches || !switchEvents.isEmpty }

    /// The switch in a sample; nil: the sample is of another event.
    func switchTold(by sample: PerfSample) -> (isPushed: Bool, next: Int32)? {
        guard switchEvents.contains(sample.event) else { return nil }
        return switchFormat?.read(sample.raw)
    }

    /// Samples per second; 0: unknown.
    var frequency: Int32 {
        guard let event, event.periodOrFrequency > 0 else { return 0 }
        if event.isFrequency { return Int32(clamping: event.periodOrFrequency) }
        return event.isClock ? Int32(clamping: 1_000_000_000 / event.periodOrFrequency) : 0
    }

    /// The CPU time that each sample represents if the event is no clock: by the requested
    /// frequency, or, if events were counted, a millisecond. nil: samples have it themselves.
    var assumed: TimeSpan? {
        guard let event, !event.isClock else { return nil }
        return event.isFrequency && frequency > 0
            ? TimeSpan(nanoseconds: 1_000_000_000 / Int64(frequency)) : .milliseconds(1)
    }

    /// The limit for one sample.
    private static let longest: Int64 = 10_000_000_000

    /// The CPU time that a sample represents.
    ///
    /// - Parameter counted: the count of its group's counter, in nanoseconds.
    func cpu(of sample: PerfSample, counted: UInt64? = nil) -> TimeSpan {
        assumed
            ?? TimeSpan(nanoseconds: min(Int64(clamping: counted ?? sample.period), Self.longest))
    }

    /// "cpu-clock at 999 Hz, --call-graph dwarf,8192, with switches"
    var description: String {
        guard let event else { return "sched:sched_switch" }
        let names = clocks.sorted { $0.key < $1.key }.map(\.value.displayName)
        var parts = [names.joined(separator: " + ")]
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
