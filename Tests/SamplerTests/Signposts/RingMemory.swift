import CSignpost
import Glibc
import ProfileModel
import System
import Testing

@testable import Agent
@testable import Sampler

/// Shared memory for a ring, and hands that write into it as a program would: step by step, so that
/// a test can stop midway, or as no program should.
final class RingMemory {
    let base: UnsafeMutableRawPointer
    let size: Int
    let events: Int

    init(events: Int) throws {
        self.events = events
        size = SignpostRing.size(events: events)
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        base = try #require(memory)
        try #require(memory != MAP_FAILED)
    }

    deinit { munmap(base, size) }

    var head: UnsafeMutablePointer<firstlight_signpost_ring> {
        base.assumingMemoryBound(to: firstlight_signpost_ring.self)
    }

    func slot(_ number: UInt64) -> UnsafeMutablePointer<firstlight_signpost_slot> {
        (base + MemoryLayout<firstlight_signpost_ring>.size)
            .assumingMemoryBound(to: firstlight_signpost_slot.self)
            + Int(number % UInt64(events))
    }

    /// The number of the event for which a slot was taken; nil: there is none.
    func take() -> UInt64? {
        while head.pointee.given &- head.pointee.taken < UInt64(events) {
            let number = head.pointee.given
            head.pointee.given &+= 1
            if slot(number).pointee.turn == 2 * (number / UInt64(events)) { return number }
        }
        head.pointee.dropped &+= 1
        return nil
    }

    func complete(
        _ number: UInt64, id: UInt64 = 0, kind: Int = FIRSTLIGHT_SIGNPOST_EVENT,
        time: MonotonicTime = .now, flags: Int = 0, thread: UInt32 = 1, texts: [String] = ["a"]
    ) {
        let slot = slot(number)
        let bytes = texts.flatMap { Array($0.utf8) }
        withUnsafeMutableBytes(of: &slot.pointee.text) { $0.copyBytes(from: bytes.prefix(216)) }
        func length(_ index: Int) -> UInt8 {
            index < texts.count ? UInt8(truncatingIfNeeded: texts[index].utf8.count) : 0
        }
        slot.pointee.name_length = length(0)
        slot.pointee.category_length = length(1)
        slot.pointee.subsystem_length = length(2)
        slot.pointee.id = id
        slot.pointee.kind = UInt8(truncatingIfNeeded: kind)
        slot.pointee.flags = UInt8(truncatingIfNeeded: flags)
        slot.pointee.time_ns = time.nanoseconds
        slot.pointee.thread = thread
        slot.pointee.turn = 2 * (number / UInt64(events)) + 1
    }

    func ring(start: MonotonicTime = .now) -> SignpostRing {
        SignpostRing(memory: base, events: events, process: getpid(), start: start)
    }
}
