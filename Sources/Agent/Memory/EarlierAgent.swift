import Architecture
import CAgent
import Glibc
package import ProcessIO
import ProfileModel

/// An area that another recorder has brought into the program: that recorder may still be
/// recording, or was killed. We never take such an area for the program's own code, nor for free
/// room.
package struct EarlierAgent {
    /// Where it is mapped.
    package let range: Range<UInt64>
    package var start: UInt64 { range.lowerBound }
    /// The process that filled it in, or will; 0: unknown.
    package let recorder: Int32
    /// The places in the C library that lead to it, with their original words.
    package let changes: [UInt64: UInt64]
    /// The signals whose action may still be its handler.
    package let signals: [AgentMemory.Signal]
    /// True if a thread waits in it until it is filled in.
    private let isAwaited: Bool
    /// True if the thread that brought it waited in vain, and has left or is about to.
    package let isLeft: Bool
    /// True if it was not filled in in time.
    package var isForsaken: Bool { isLeft || isAwaited }
    /// True if it is of another version, or does not name its recorder.
    private let isUnclear: Bool
    /// True if only `changes` lead to it, and no thread needs to be in it.
    package let isQuiet: Bool

    /// All such areas in a process. A child of a recorded process has its parent's, too.
    package static func all(in process: any ProcessAccess) -> [EarlierAgent] {
        let (lines, memory) = (process.mappings(), process.memory)
        return lines.indices
            .filter {
                lines[$0].isExecutable && lines[$0].fileOffset == 0 && lines[$0].path == path
            }
            .map { EarlierAgent(at: extent(of: lines[$0...]), memory) }
    }

    /// The mappings that belong to it, from its beginning. The area's own data cannot be trusted.
    private static func extent(of lines: ArraySlice<ProcFormats.MapsLine>) -> Range<UInt64> {
        guard let first = lines.first else { return 0..<0 }
        var end = first.end
        for line in lines.dropFirst() {
            let offset = line.start &- first.start
            let isPart =
                line.path == path && line.inode == first.inode && line.fileOffset == offset
            // The pages of which the process has its own copies.
            let isOwn =
                offset >= UInt64(FL_OWN) && line.end &- first.start <= UInt64(FL_SLOTS)
            guard line.start == end, isPart || isOwn else { break }
            end = line.end
        }
        return first.start..<end
    }

    package static let path = "/memfd:firstlight (deleted)"

    private init(at range: Range<UInt64>, _ memory: TargetMemory) {
        self.range = range
        let start = range.lowerBound
        let bytes = memory.read(
            at: start &+ UInt64(FL_STATE), count: MemoryLayout<fl_state>.size)
        let code = memory.read(at: start, count: AgentCode.bytes.count)
        let isOurs =
            bytes.count == MemoryLayout<fl_state>.size
            && (code == AgentCode.bytes || AgentCode.isArrival(code))
        let state = isOurs ? bytes.withUnsafeBytes { $0.loadUnaligned(as: fl_state.self) } : nil
        signals = state.map(AgentMemory.signals) ?? []
        isLeft = state?.phase == UInt32(FL_PHASE_ABANDONED)
        isQuiet = isLeft || state.map { Self.isQuiet($0, at: start, memory) } ?? false
        recorder = Int32(bitPattern: state?.recorder ?? 0)
        isAwaited = state?.phase == UInt32(FL_PHASE_EMPTY)
        isUnclear = state == nil || (isAwaited && recorder == 0)
        changes = state.map { Self.changes($0, at: start, memory) } ?? [:]
    }

    /// The address of its signal handler.
    package var handler: UInt64 { start &+ UInt64(AgentCode.sampleHandler) }

    /// True if the program uses it.
    package var isInUse: Bool { isUnclear || isAwaited || !changes.isEmpty }

    /// True if its recorder is gone. Ids are reused: if another process has the recorder's id now,
    /// the area counts as in use.
    package var isAbandoned: Bool {
        guard !isUnclear, recorder > 0 else { return false }
        return recorder == getpid() || (kill(recorder, 0) != 0 && errno == ESRCH)
    }

    /// The area's data cannot be trusted, so only code that leads to it now counts.
    private static func changes(
        _ state: fl_state, at start: UInt64, _ memory: TargetMemory
    ) -> [UInt64: UInt64] {
        var changes: [UInt64: UInt64] = [:]
        for site in AgentMemory.hookedWords(of: state).keys {
            guard let word = memory.word(at: site) else { continue }
            changes[site] = AgentCode.original(of: word, at: site, ledTo: start)
        }
        let patches = withUnsafeBytes(of: state.patches) { Array($0.bindMemory(to: fl_patch.self)) }
        for hook in patches + [state.hook] where hook.target == AgentCode.debugState {
            guard let word = memory.word(at: hook.address) else { continue }
            changes[hook.address] = LinkerHook.original(
                of: word, at: hook.address, ledTo: start &+ hook.target, before: hook.word)
        }
        return changes
    }

    /// True if everything that was begun there is over, and nothing will follow: its code has
    /// worked, the program has begun, no initialiser is or will be timed, and no signposts or marks
    /// lead to it.
    private static func isQuiet(
        _ state: fl_state, at start: UInt64, _ memory: TargetMemory
    ) -> Bool {
        let isStarted =
            (state.start_pointer == 0 && state.real_main == 0)
            || state.borders & (1 << UInt32(FL_BORDER_MAIN)) != 0
        let (records, libraries) = (Int(state.records), Int(state.libraries))
        guard state.phase == UInt32(FL_PHASE_SETTLED), state.stays == 0, state.island == 0,
            isStarted, records < Int(FL_MOST_RECORDS), libraries < Int(FL_MOST_LIBRARIES)
        else { return false }
        func all<Value>(_ type: Value.Type, _ count: Int, at offset: Int32) -> [Value]? {
            let size = count * MemoryLayout<Value>.stride
            let bytes = memory.read(at: start &+ UInt64(offset), count: size)
            guard bytes.count == size else { return nil }
            return bytes.withUnsafeBytes { bytes in
                (0..<count).map {
                    bytes.loadUnaligned(
                        fromByteOffset: $0 * MemoryLayout<Value>.stride, as: type)
                }
            }
        }
        let runs = all(fl_initializer.self, records, at: FL_RECORDS)
        let known = all(fl_library.self, libraries, at: FL_LIBRARIES)
        // The program's own initialisers may never pass its code.
        return runs?.allSatisfy { $0.state != UInt32(FL_INITIALIZER_RUNNING) } == true
            && known?.dropFirst(state.real_init == 0 ? 0 : 1)
                .allSatisfy { !$0.isLed } == true
    }

    /// True if its handler may be the action of one of its signals.
    package func mayHaveHandler(in process: any ProcessAccess) -> Bool {
        guard let status = process.status else { return true }
        return signals.contains { status.catches($0.number) }
    }

    /// True if the linker's hook leads to it, and the original word is unknown.
    package func isLed(to hook: (address: UInt64, word: UInt64)?) -> Bool {
        guard let hook else { return false }
        return JumpPatch.word(from: hook.address, to: start &+ AgentCode.debugState)
            == JumpPatch.replaced(of: hook.word)
    }

    /// From now on its code makes no system calls, no matter which thread runs it.
    package func silence(in memory: TargetMemory) {
        let offset = MemoryLayout<fl_state>.offset(of: \.filtered) ?? 0
        memory.write([UInt32(1)], at: start &+ UInt64(Int(FL_STATE) + offset))
    }
}
