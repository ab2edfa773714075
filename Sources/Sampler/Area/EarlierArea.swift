import CAgent
import Glibc
import ProfileModel

/// What another recorder has brought into a program: one that records it still, or one that was
/// killed. It is never taken for the program's own code, nor for free room.
struct EarlierArea {
    let start: UInt64
    /// Who filled it in; 0: not known.
    let recorder: Int32
    /// The places in the C library that lead there, and what was there before.
    let changes: [UInt64: UInt64]
    /// Somebody waits in it until it is filled in, or it is of another version: then nothing is
    /// known of it.
    private let isUnclear: Bool

    /// Those of a process, the child of a recorded one, too: it has its parent's.
    static func all(in pid: Int32) -> [EarlierArea] {
        var buffer = ReadBuffer(capacity: 16384)
        buffer.readAll(path: "/proc/\(pid)/maps")
        return ProcFormats.maps(buffer.text)
            .filter { $0.isExecutable && $0.fileOffset == 0 && $0.path == path }
            .map { EarlierArea(at: $0.start, TargetMemory(pid: pid)) }
    }

    private static let path = "/memfd:firstlight (deleted)"

    private init(at start: UInt64, _ memory: TargetMemory) {
        self.start = start
        let bytes = memory.read(
            at: start &+ UInt64(FL_STATE), count: MemoryLayout<fl_state>.size)
        let isOurs =
            bytes.count == MemoryLayout<fl_state>.size
            && memory.read(at: start, count: AreaCode.bytes.count) == AreaCode.bytes
        let state = isOurs ? bytes.withUnsafeBytes { $0.loadUnaligned(as: fl_state.self) } : nil
        recorder = Int32(bitPattern: state?.recorder ?? 0)
        isUnclear = state == nil || state?.phase == UInt32(FL_PHASE_EMPTY)
        changes = state.map { Self.changes($0, at: start, memory) } ?? [:]
    }

    /// Whether the program comes by it.
    var isInUse: Bool { isUnclear || !changes.isEmpty }

    /// Whether who filled it in is gone. Numbers are given out anew: then another process is taken
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
        ProcFile.write(
            [UInt32(1)], to: "/proc/\(pid)/mem", at: start &+ UInt64(Int(FL_STATE) + offset))
    }
}

extension TraceSession {
    /// Where a recorder was killed, its changes of the program's code are taken back. What is
    /// mapped of it stays, for somebody may be in it, and does nothing any more.
    ///
    /// - Returns: whether there was anything.
    /// - Throws: `occupied` if the other may be at work.
    func takeOver() throws(SetupFailure) -> Bool {
        let earlier = EarlierArea.all(in: pid).filter(\.isInUse)
        guard earlier.allSatisfy({ sharesNamespace && $0.isAbandoned }) else {
            throw .obstacle(.occupied)
        }
        for area in earlier {
            for (site, word) in area.changes { putBack(word, at: site) }
            area.silence(in: pid)
        }
        return !earlier.isEmpty
    }
}
