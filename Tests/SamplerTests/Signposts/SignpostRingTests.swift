import CSignpost
import ProfileModel
import System
import TestSupport
import Testing

@testable import Agent
@testable import Sampler

@Suite struct SignpostRingTests {
    @Test func layoutIsTheProtocols() {
        #expect(MemoryLayout<firstlight_signpost_state>.size == 24)
        #expect(MemoryLayout<firstlight_signpost_slot>.size == 256)
        #expect(MemoryLayout<firstlight_signpost_ring>.size == 256)
        #expect(MemoryLayout<firstlight_signpost_ring>.offset(of: \.taken) == 64)
        #expect(MemoryLayout<firstlight_signpost_ring>.offset(of: \.given) == 128)
        #expect(MemoryLayout<firstlight_signpost_ring>.offset(of: \.dropped) == 192)
    }

    @Test(arguments: [
        (Int.min, 16), (0, 16), (16, 16), (17, 32), (1024, 1024), (1025, 2048),
        (.max, 1 << 20),
    ])
    func sizeHoldsTheSlots(events: Int, slots: Int) {
        let size = SignpostRing.size(events: events)
        #expect(size == (256 + slots * 256 + 4095) / 4096 * 4096)
    }

    @Test func fieldsOfASignpost() throws {
        let memory = try RingMemory(events: 16)
        let ring = memory.ring()
        #expect(ring.poll().isEmpty)
        let time = MonotonicTime.now
        memory.complete(
            try #require(memory.take()), id: 77, kind: FIRSTLIGHT_SIGNPOST_BEGIN, time: time,
            thread: 4711, texts: ["Läden", "launch", "org.example"])
        memory.complete(
            try #require(memory.take()), id: 5, kind: FIRSTLIGHT_SIGNPOST_END, time: time,
            flags: FIRSTLIGHT_SIGNPOST_OWN_ID, texts: ["", "", ""])
        let label = SignpostLabel(name: "Läden", category: "launch", subsystem: "org.example")
        let empty = SignpostLabel(name: "", category: "", subsystem: "")
        #expect(
            ring.poll() == [
                SignpostEvent(
                    kind: .begin, identity: .given(77), label: label, thread: 4711, time: time),
                SignpostEvent(
                    kind: .end, identity: .chosen(5), label: empty, thread: 1, time: time),
            ])
        #expect(ring.poll().isEmpty)
        #expect(ring.losses == SignpostRing.Losses())
    }

    /// Threads that take slots, complete them late, or never; a recorder that looks now and then.
    @Test(arguments: 0..<40)
    func everyCompleteEventComesOnce(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let memory = try RingMemory(events: 16)
        let ring = memory.ring()
        var (begun, awaited, received): ([UInt64], Set<UInt64>, [UInt64]) = ([], [], [])
        var (next, dropped): (UInt64, UInt64) = (0, 0)
        for _ in 0..<3000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                guard let number = memory.take() else {
                    dropped += 1
                    continue
                }
                // One in twenty dies midway; those must not use up the ring.
                let dies = Int.random(in: 0..<20, using: &random) == 0 && begun.count < 6
                if dies && Bool.random(using: &random) { continue }
                begun.append(number)
            case 4, 5:
                guard let index = begun.indices.randomElement(using: &random) else { continue }
                memory.complete(begun.remove(at: index), id: next)
                awaited.insert(next)
                next += 1
            default:
                received += ring.poll().map(\.given)
                #expect(Set(received) == awaited)
            }
        }
        received += ring.poll().map(\.given)
        #expect(received.count == Set(received).count)
        #expect(Set(received) == awaited)
        #expect(ring.losses == SignpostRing.Losses(dropped: dropped))
    }

    @Test func aFullRingDropsAndCounts() throws {
        let memory = try RingMemory(events: 16)
        let ring = memory.ring()
        for round in 1...3 {
            for _ in 0..<20 {
                if let number = memory.take() { memory.complete(number) }
            }
            #expect(ring.poll().count == 16)
            #expect(ring.losses.dropped == UInt64(4 * round))
        }
    }

    /// A thread is stopped between taking its slot and completing it; the ring goes round meanwhile.
    @Test func aLateEntryIsTaken() throws {
        let memory = try RingMemory(events: 16)
        let ring = memory.ring()
        let late = try #require(memory.take())
        var count = 0
        for _ in 0..<10 {
            for _ in 0..<7 {
                if let number = memory.take() { memory.complete(number, id: 1) }
            }
            count += ring.poll().count
        }
        #expect(count == 70)
        memory.complete(late, id: 9)
        #expect(ring.poll().map(\.given) == [9])
        // Its slot is in use again after a while.
        var slots: Set<UInt64> = []
        for _ in 0..<10 {
            for _ in 0..<7 {
                guard let number = memory.take() else { continue }
                slots.insert(number % 16)
                memory.complete(number, id: 1)
            }
            #expect(ring.poll().count == 7)
        }
        #expect(slots.count == 16)
        #expect(ring.losses.dropped == 0)
    }

    @Test func impossibleEventsAreCounted() throws {
        let memory = try RingMemory(events: 16)
        let start = MonotonicTime.now
        let ring = memory.ring(start: start)
        let late = start + .milliseconds(1_000_000_000)
        let early = MonotonicTime(nanoseconds: start.nanoseconds - 1)
        memory.complete(try #require(memory.take()), kind: 0)
        memory.complete(try #require(memory.take()), kind: 4)
        memory.complete(try #require(memory.take()), kind: 255)
        memory.complete(try #require(memory.take()), time: late)
        memory.complete(try #require(memory.take()), time: early)
        memory.complete(try #require(memory.take()), time: MonotonicTime(nanoseconds: .min))
        let long = String(repeating: "x", count: 129)
        memory.complete(try #require(memory.take()), texts: [long])
        memory.complete(try #require(memory.take()), texts: ["", String(long.prefix(41))])
        memory.complete(try #require(memory.take()), texts: ["", "", String(long.prefix(41))])
        memory.complete(try #require(memory.take()), texts: [String(long.prefix(128))])
        #expect(ring.poll().map(\.label.name) == [String(long.prefix(128))])
        #expect(ring.losses == SignpostRing.Losses(damaged: 9))
    }

    /// The program may write anything anywhere: any answer within bounds, no trap.
    @Test(arguments: 0..<60)
    func damagedRings(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let memory = try RingMemory(events: 32)
        let ring = memory.ring()
        for _ in 0..<200 {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                if let number = memory.take() { memory.complete(number, id: random.next()) }
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                // The head, which counts most, is as likely as all the rest.
                let limit = Bool.random(using: &random) ? 256 : memory.size
                let offset = Int.random(in: 0..<limit / 8, using: &random) * 8
                let values: [UInt64] = [
                    0, 1, 2, UInt64.max, 1 << 63, random.next(), random.next() % 64,
                ]
                let value = values.randomElement(using: &random)
                memory.base.storeBytes(of: value ?? 0, toByteOffset: offset, as: UInt64.self)
            }
            #expect(ring.poll().count <= 32 + SignpostRing.pendingLimit)
        }
    }

    /// After an impossible count, reading goes on with later events.
    @Test func anImpossibleCountIsSurvived() throws {
        let memory = try RingMemory(events: 16)
        let ring = memory.ring()
        memory.head.pointee.given = 1 << 40
        #expect(ring.poll().isEmpty)
        #expect(ring.losses.damaged == 1)
        #expect(memory.head.pointee.taken == 1 << 40)
    }

    /// A million half-written events: the list of pending ones stays small.
    @Test func unfinishedEventsAreBounded() throws {
        let memory = try RingMemory(events: 2048)
        let ring = memory.ring()
        while memory.take() != nil {}
        for _ in 0..<10 { #expect(ring.poll().isEmpty) }
        #expect(memory.head.pointee.taken == UInt64(SignpostRing.pendingLimit))
    }

    @Test func releasedMemoryIsEmpty() throws {
        let memory = try RingMemory(events: 16)
        let ring = memory.ring()
        memory.complete(try #require(memory.take()))
        ring.release()
        #expect(memory.head.pointee.given == 0)
        #expect(memory.slot(0).pointee.turn == 0)
    }

    @Test func recordingsDoNotShareIdentifiers() throws {
        let memory = try RingMemory(events: 16)
        var seen: Set<UInt64> = []
        for _ in 0..<100 {
            _ = memory.ring()
            #expect(memory.head.pointee.first_id != 0)
            #expect(memory.head.pointee.first_id <= UInt64.max / 2 + 1)
            seen.insert(memory.head.pointee.first_id)
        }
        #expect(seen.count == 100)
    }
}

extension SignpostEvent {
    /// The identifier of an event that did not choose its own.
    var given: UInt64 {
        if case .given(let id) = identity { id } else { .max }
    }
}
