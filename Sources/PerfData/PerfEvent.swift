/// One of the events that perf counted, and the data that it recorded each time (`struct
/// perf_event_attr` of linux/perf_event.h).
package struct PerfEvent: Hashable, Sendable {
    /// The kernel's number for the kind of event: 0 hardware, 1 software, 2 tracepoint …
    package var type: UInt32
    /// The event of that kind.
    package var config: UInt64
    /// Samples per second if ``isFrequency``, otherwise events between two samples.
    package var periodOrFrequency: UInt64
    package var isFrequency: Bool
    /// How many bytes of stack were requested; 0: none.
    package var stackBytes: UInt32
    /// `CLOCK_…` of the times; nil: perf's own clock.
    package var clock: Int32?
    /// perf's name for it, e.g. `cpu-clock:u`; empty if the file has none.
    package var name: String
    /// True if switches from and to a core were recorded.
    package var recordsSwitches: Bool

    /// The processor's modes in which it counts.
    package var modes: Modes

    /// Where the processor is when an event counts (`exclude_user`, `exclude_kernel` …).
    package struct Modes: OptionSet, Hashable, Sendable {
        package var rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let user = Modes(rawValue: 1)
        package static let kernel = Modes(rawValue: 2)
        package static let hypervisor = Modes(rawValue: 4)
    }

    var sampleType: SampleType
    var readFormat: UInt64
    var branchType: UInt64
    var userRegisters: UInt64
    var hasSampleIDs: Bool
    /// The ids of its counters in records.
    package internal(set) var ids: [UInt64]
    /// True if its samples contain the count of each counter of its group, by its id
    /// (PERF_FORMAT_GROUP, _ID).
    package var countsGroups: Bool { sampleType.contains(.read) && readFormat & 0b1100 == 0b1100 }
    /// True if new threads are counted, too, by counters of their own with the same id.
    package internal(set) var isInherited: Bool

    /// True if a sample's period is in nanoseconds of CPU time.
    package var isClock: Bool { type == 1 && (config == 0 || config == 1) }
    /// True if its samples can tell where time goes. Samples of tracepoints, of breakpoints and of
    /// the kernel's own counters (page faults, context switches) occur at events, not at regular
    /// times.
    package var mayMeasureTime: Bool { isClock || ![1, 2, 5].contains(type) }
    /// The period of a sample that does not contain it; for a clock, in nanoseconds.
    var usualPeriod: UInt64 {
        guard isFrequency else { return periodOrFrequency }
        return isClock && periodOrFrequency > 0 ? 1_000_000_000 / periodOrFrequency : 1
    }
    package var isTracepoint: Bool { type == 2 }
    package var hasCallchains: Bool { sampleType.contains(.callchain) }
    package var hasStacks: Bool {
        sampleType.contains([.userRegisters, .userStack]) && userRegisters != 0
    }
    /// True if counting began when the program that perf started was executed.
    package private(set) var startsAtExec: Bool
    package var hasTimes: Bool { sampleType.contains(.time) }

    /// - Parameter reader: at the attribute, and ending with it.
    init?(_ reader: ByteReader) {
        var reader = reader
        guard reader.remaining >= Self.smallestSize, let type = reader.u32(), reader.u32() != nil,
            let config = reader.u64(), let period = reader.u64(), let sampleType = reader.u64(),
            let readFormat = reader.u64(), let flags = reader.u64()
        else { return nil }
        self.type = type
        self.config = config
        periodOrFrequency = period
        self.sampleType = SampleType(rawValue: sampleType)
        self.readFormat = readFormat
        isFrequency = flags & 1 << 10 != 0
        modes = Modes(rawValue: ~UInt8(truncatingIfNeeded: flags >> 4) & 7)
        hasSampleIDs = flags & 1 << 18 != 0
        startsAtExec = flags & 1 << 12 != 0
        isInherited = flags & 1 << 1 != 0
        recordsSwitches = flags & 1 << 26 != 0
        // Fields that an older kernel did not know are 0.
        reader.skip(24)
        branchType = reader.u64() ?? 0
        userRegisters = reader.u64() ?? 0
        stackBytes = reader.u32() ?? 0
        let clock = reader.i32() ?? 0
        self.clock = flags & 1 << 25 != 0 ? clock : nil
        name = ""
        ids = []
    }

    /// The size in perf's first version.
    static let smallestSize = 64

    /// True if this event counts the same as another one, but never at the same time. One may count
    /// in the program's code and the other in the kernel's (`cpu-clock:u`, `cpu-clock:k`), or each
    /// on its own kind of core (`cpu_core/cycles/`, `cpu_atom/cycles/`). Then they are one clock.
    package func isComplement(of other: PerfEvent) -> Bool {
        let isSame = type == other.type && config == other.config
        if isSame || isClock && other.isClock { return modes.isDisjoint(with: other.modes) }
        // The upper half names the kind of core.
        let isOfOtherCore =
            type == 0 && other.type == 0
            && UInt32(truncatingIfNeeded: config) == UInt32(truncatingIfNeeded: other.config)
        let (own, others) = (nameOnCores, other.nameOnCores)
        return isOfOtherCore
            || own != nil && own?.event == others?.event && own?.core != others?.core
    }

    /// `cpu_core/cycles/u` → (`cpu_core`, `cycles`); nil: it is on all cores.
    private var nameOnCores: (core: Substring, event: Substring)? {
        let parts = name.split(separator: "/")
        guard parts.count >= 2, parts[0].hasPrefix("cpu_") else { return nil }
        return (parts[0], parts[1])
    }

    /// The name to show, even if the file has none.
    package var displayName: String {
        if let (core, event) = nameOnCores { return "\(core)/\(event)" }
        // Without the terms that the user gave with it: `cpu-clock/freq=999/`.
        if let plain = name.split(separator: "/").first { return String(plain) }
        switch (type, config) {
        case (0, 0): return "cycles"
        case (0, 1): return "instructions"
        case (1, 0): return "cpu-clock"
        case (1, 1): return "task-clock"
        default: return "event \(type):\(config)"
        }
    }
}

/// The parts of a sample (`PERF_SAMPLE_…`).
struct SampleType: OptionSet, Hashable, Sendable {
    var rawValue: UInt64

    static let instruction = SampleType(rawValue: 1 << 0)
    static let thread = SampleType(rawValue: 1 << 1)
    static let time = SampleType(rawValue: 1 << 2)
    static let address = SampleType(rawValue: 1 << 3)
    static let read = SampleType(rawValue: 1 << 4)
    static let callchain = SampleType(rawValue: 1 << 5)
    static let id = SampleType(rawValue: 1 << 6)
    static let cpu = SampleType(rawValue: 1 << 7)
    static let period = SampleType(rawValue: 1 << 8)
    static let streamID = SampleType(rawValue: 1 << 9)
    static let raw = SampleType(rawValue: 1 << 10)
    static let branchStack = SampleType(rawValue: 1 << 11)
    static let userRegisters = SampleType(rawValue: 1 << 12)
    static let userStack = SampleType(rawValue: 1 << 13)
    static let identifier = SampleType(rawValue: 1 << 16)
}
