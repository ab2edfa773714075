import ProcessIO
import ProfileModel

/// A session's report on itself when it is over: ticks, CPU time, and notes on its own work.
struct SessionLedger {
    private(set) var ticks: Int64 = 0
    private(set) var missedTicks: Int64 = 0
    /// CPU time in the slices of threads that ended.
    private(set) var observedCPU = TimeSpan.zero
    /// The stacks of threads that ended.
    private(set) var samples = SampleTally()
    private var notes: [RecorderNote.Kind: Int64] = [:]
    /// The process's CPU time before the recording.
    private var initial = ProcessCPU(own: .zero, children: .zero)
    private var final = ProcessCPU()
    /// The process's totals at its end, if these were seen.
    private(set) var finalCounters: ProcessCounters?
    /// The other load of the machine; nil: another session reports that.
    private let machine: MachineLoad?

    init(machine: MachineLoad?) { self.machine = machine }

    /// CPU time of a process, and of the children that it waited for; nil: it cannot be read.
    struct ProcessCPU: Hashable {
        var own: TimeSpan?
        var children: TimeSpan?
    }

    // MARK: Meanwhile

    mutating func tick(missed: Int32) {
        ticks += 1
        missedTicks += Int64(max(0, missed))
    }

    mutating func ended(_ thread: TracedThread, interval: Int64) {
        observedCPU = observedCPU + thread.observedCPU
        var taken = thread.samplesTaken
        taken.end(interval: interval)
        samples += taken
    }

    /// Counts a note of this kind.
    mutating func note(_ kind: RecorderNote.Kind) { notes[kind, default: 0] += 1 }

    mutating func note(_ kind: RecorderNote.Kind, _ value: Int64) { notes[kind] = value }

    // MARK: Beginning and end

    mutating func began(_ cpu: ProcessCPU) { initial = cpu }

    mutating func ended(_ cpu: ProcessCPU) { final = cpu }

    mutating func ended(_ counters: ProcessCounters) { finalCounters = counters }

    /// Whether the process's last figures were read.
    var isClosed: Bool { final.own != nil }

    /// - Parameter lostWaits: how many waits found no room.
    mutating func finalNotes(lostWaits: Int64) -> [RecorderNote] {
        if let own = final.own {
            let unseen = own - (initial.own ?? .zero) - observedCPU
            if unseen > .zero { notes[.unseenCPU] = unseen.nanoseconds }
        }
        if lostWaits > 0 { notes[.lostWaits] = lostWaits }
        noteMachine()
        return RecorderNote.Kind.allCases.compactMap { kind in
            notes[kind].map { RecorderNote(kind, $0) }
        }
    }

    /// Notes other work on the machine. Without the program's last figures, what the program did
    /// would look like others' work.
    private mutating func noteMachine() {
        guard let machine, let own = final.own, let children = final.children else { return }
        let program =
            own - (initial.own ?? .zero) + (children - (initial.children ?? .zero))
        notes.merge(machine.notes(program: program)) { $1 }
    }
}

extension ProcessAccess {
    var cpu: SessionLedger.ProcessCPU {
        SessionLedger.ProcessCPU(own: cpuTime, children: childrenCPU)
    }
}
