import CAgent
import Glibc
import ProfileModel

/// What another recorder has brought into a program: one that records it still, or one that was
/// killed. It is never taken for the program's own code, nor for free room.
struct EarlierArea {
    let start: UInt64
    /// Who filled it in, or will; 0: not known.
    let recorder: Int32
    /// The places in the C library that lead there, and what was there before.
    let changes: [UInt64: UInt64]
    /// Those whose handler it may still be.
    let signals: [Area.Signal]
    /// Somebody waits in it until it is filled in.
    private let isAwaited: Bool
    /// It is of another version, or does not say whose it is.
    private let isUnclear: Bool

    /// Those of a process, the child of a recorded one, too: it has its parent's.
    static func all(in pid: Int32) -> [EarlierArea] {
        var buffer = ReadBuffer(capacity: 16384)
        buffer.readAll("maps", of: pid)
        return ProcFormats.maps(buffer.text)
            .filter { $0.isExecutable && $0.fileOffset == 0 && $0.path == path }
            .map { EarlierArea(at: $0.start, TargetMemory(pid: pid)) }
    }

    private static let path = "/memfd:firstlight (deleted)"

    private init(at start: UInt64, _ memory: TargetMemory) {
        self.start = start
        let bytes = memory.read(
            at: start &+ UInt64(FL_STATE), count: MemoryLayout<fl_state>.size)
        let code = memory.read(at: start, count: AreaCode.bytes.count)
        let isOurs =
            bytes.count == MemoryLayout<fl_state>.size
            && (code == AreaCode.bytes || AreaCode.isArrival(code))
        let state = isOurs ? bytes.withUnsafeBytes { $0.loadUnaligned(as: fl_state.self) } : nil
        signals = state.map(Area.signals)?.filter { $0.original <= 1 } ?? []
        recorder = Int32(bitPattern: state?.recorder ?? 0)
        isAwaited = state?.phase == UInt32(FL_PHASE_EMPTY)
        isUnclear = state == nil || (isAwaited && recorder == 0)
        changes = state.map { Self.changes($0, at: start, memory) } ?? [:]
    }

    /// Its handler of the signals.
    var handler: UInt64 { start &+ UInt64(AreaCode.sampleHandler) }

    /// Whether the program comes by it.
    var isInUse: Bool { isUnclear || isAwaited || !changes.isEmpty }

    /// Whether who filled it in, or should, is gone. Numbers are given out anew: then another process is taken
    /// for it, and it counts as in use.
    var isAbandoned: Bool {
        guard !isUnclear, recorder > 0 else { return false }
        return recorder == getpid() || (kill(recorder, 0) != 0 && errno == ESRCH)
    }

    /// What it says may be anything: only what leads there now counts.
    private static func changes(
        _ state: fl_state, at start: UInt64, _ memory: TargetMemory
    ) -> [UInt64: UInt64] {
        var changes: [UInt64: UInt64] = [:]
        for site in Area.hookedWords(of: state).keys {
            guard let word = memory.word(at: site) else { continue }
            changes[site] = AreaCode.original(of: word, at: site, ledTo: start)
        }
        return changes
    }

    /// From now on it makes no system calls, whoever comes by.
    func silence(in pid: Int32) {
        let offset = MemoryLayout<fl_state>.offset(of: \.filtered) ?? 0
        TargetMemory(pid: pid).write([UInt32(1)], at: start &+ UInt64(Int(FL_STATE) + offset))
    }
}

extension TraceSession {
    /// Where a recorder was killed, or could not take its own away, its changes of the program's code
    /// and its handlers are taken back: each has but two signals to choose from. What is mapped of it
    /// stays, for somebody may be in it, and does nothing any more.
    ///
    /// - Parameter thread: one that is stopped and can be led away; all that run are stopped.
    /// - Returns: whether the program's code was changed.
    /// - Throws: `occupied` if the other may be at work.
    func takeOver(by thread: TracedThread) throws(SetupFailure) -> Bool {
        let all = EarlierArea.all(in: pid)
        let inUse = all.filter(\.isInUse)
        guard inUse.allSatisfy({ sharesNamespace && $0.isAbandoned }) else {
            throw .obstacle(.occupied)
        }
        for area in inUse {
            for (site, word) in area.changes { putBack(word, at: site) }
            area.silence(in: pid)
        }
        for area in all where sharesNamespace && area.isAbandoned {
            try takeBackHandlers(of: area, by: thread)
        }
        return !inUse.isEmpty
    }

    /// The signals do what they did before, where the other's handler is their action still.
    private func takeBackHandlers(
        of area: EarlierArea, by thread: TracedThread
    ) throws(SetupFailure) {
        for signal in area.signals where ProcessStatus(pid: pid)?.catches(signal.number) == true {
            let code = AreaCode.away(restoring: signal, from: area.handler, nil)
            guard let cave = ImageStart(pid: pid).anyCave, run(code, at: cave, by: thread) else {
                throw .obstacle(.unmapped)
            }
        }
    }
}
