import Agent
import CAgent
import CSystem
import FuzzSupport
import Glibc
import ProfileModel
import System

@testable import ProcessIO
@testable import Sampler

// The area as a hostile program writes it, between any two actions of the recorder on it. With any
// contents the recorder goes on, and stays within its bounds and in its own memory.

/// The parts of the area that the recorder reads, so that most writes have an effect.
private let parts = [
    FL_STATE, FL_SLOTS, FL_RECORDS, FL_LIBRARIES, FL_OPENS, FL_MARKS, FL_STACKS, FL_RING,
].map(Int.init)

/// Numbers at limits.
private let edges: [UInt64] = [
    0, 1, 2, 3, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 62, (1 << 63) - 1, 1 << 63, .max - 1,
    .max,
]

/// One for all inputs: to map it takes longer than to use it.
nonisolated(unsafe) private let area: AgentMemory = {
    guard let area = AgentMemory(stackBytes: 4096) else { fatalError("no shared memory") }
    return area
}()

func fuzzArea(_ bytes: UnsafeRawBufferPointer) {
    var words = Words(bytes)
    // All zero, as new memory is.
    precondition(fl_release_shared(area.base, area.size) == 0)
    var contents = AgentMemory.Contents(place: 0x7000_0000_0000, recorder: 1, cookie: 0x1234)
    contents.signal = (23, 0)
    area.fill(contents)
    precondition(area.open())
    let ring = SignpostRing(
        memory: area.base + Int(FL_RING), process: 1, start: MonotonicTime(nanoseconds: 0))
    let signposts = ProgramSignposts(ring: ring, address: area.position(Int(FL_RING)))
    var hooks = Hooks(area: area, signposts: signposts)
    let slots = SharedSlots(area: area, cookie: contents.cookie)
    var taken: [Int] = []
    // Its own memory: no other process's may be read, and this may well be damaged.
    let memory = TargetMemory(pid: getpid())
    for _ in 0..<256 where !words.isEmpty {
        switch words.byte() % 16 {
        case 0: if let slot = slots.take() { taken.append(slot) }
        case 1: useSlot(taken, slots, &words)
        case 2: if let slot = taken.popLast() { slots.giveBack(slot) }
        case 3: show(area)
        case 4: tell(hooks.newRuns(isLast: false))
        case 5: _ = hooks.see(memory)
        case 6: tell(hooks.newLibraries(isLast: false), area)
        case 7: precondition(signposts.poll(thread: thread).results.allSatisfy(isSound))
        default: write(&words, area)
        }
    }
    tell(hooks.newRuns(isLast: true))
    _ = hooks.see(memory)
    tell(hooks.newLibraries(isLast: true), area)
    _ = signposts.finish(at: .now, thread: thread)
}

private func thread(_ tid: Int32) -> ThreadIndex? { tid % 3 == 0 ? nil : ThreadIndex(0) }

/// A word anywhere, mostly where it is read.
private func write(_ words: inout Words, _ area: AgentMemory) {
    let part = words.index(below: parts.count + 1)
    let start = part < parts.count ? parts[part] : 0
    let offset = start + words.index(below: 0x600) & ~3
    let kind = words.byte()
    let value = kind & 1 == 0 ? words.word() : edges[words.index(below: edges.count)]
    let count = kind & 2 == 0 ? 4 : 8
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    area.write(bytes, at: min(offset, area.size - count))
}

private func useSlot(_ taken: [Int], _ slots: SharedSlots, _ words: inout Words) {
    guard let slot = taken.last else { return }
    switch slots.state(of: slot) {
    case .idle:
        let low = words.word()
        _ = slots.request(
            slot, stack: low..<max(low, words.word()), limit: Int(truncatingIfNeeded: words.word()),
            masks: slots.masks)
    case .requested, .busy: slots.cancel(slot)
    case .filled:
        let answer = slots.takeAnswer(slot)
        precondition(answer.stack.bytes.count <= 1 << 20)
        precondition(answer.time >= MonotonicTime(nanoseconds: 0))
    case .declined: slots.free(slot)
    }
}

private func show(_ area: AgentMemory) {
    for border in NotedBorder.allCases { _ = area.border(border) }
    _ = (area.isSettled, area.range, area.signals, area.hookedWords, area.initialLibraries)
    _ = (area.hasPendingInitializers, area.hasRoomForLoads, area.isGateWaiting)
    precondition(area.counts.records <= AgentMemory.mostRecords)
}

private func tell(_ runs: [AgentMemory.Note]) {
    precondition(runs.count <= AgentMemory.mostRecords)
}

private func tell(
    _ calls: [(open: Int, libraries: [Hooks.SeenLibrary], end: MonotonicTime?)], _ area: AgentMemory
) {
    for call in calls {
        precondition(area.open(call.open).stack.stack.bytes.count <= Int(FL_OPEN_STACK))
    }
}

private func isSound(_ result: SignpostPairing.Result) -> Bool {
    switch result {
    case .interval(let interval): interval.end >= interval.start
    default: true
    }
}
