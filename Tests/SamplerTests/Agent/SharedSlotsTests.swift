import Architecture
import CAgent
import Glibc
import ProfileModel
import Synchronization
import TestSupport
import Testing

@testable import Agent
@testable import Sampler

/// Requests and answers, with the test in the place of the program's handler.
@Suite struct SharedSlotsTests {
    private static let cookie: UInt64 = 0xFEDC_BA98_7654

    private static func made(
        _ stackBytes: Int = 4096
    ) throws -> (area: AgentMemory, slots: SharedSlots) {
        let area = try #require(AgentMemory(stackBytes: stackBytes))
        area.fill(AgentMemory.Contents(place: 0x7000_0000_0000, recorder: 0, cookie: cookie))
        return (area, SharedSlots(area: area, cookie: cookie))
    }

    private static func outstanding(_ area: AgentMemory) -> Int32 {
        area.outstanding.pointee.load(ordering: .sequentiallyConsistent)
    }

    private static func head(_ area: AgentMemory, _ slot: Int) -> UnsafeMutablePointer<fl_slot> {
        (area.base + Int(FL_SLOTS) + slot * Int(FL_SLOT_SIZE))
            .assumingMemoryBound(to: fl_slot.self)
    }

    private static func request(
        _ slots: SharedSlots, _ slot: Int, limit: Int = 4096, masks: UInt32 = 0
    ) -> SharedSlots.Request {
        slots.request(slot, stack: 0x1000..<0x9000, limit: limit, masks: masks)
    }

    /// The handler's part.
    private static func answer(
        _ area: AgentMemory, _ slot: Int, size: Int64 = 16, as state: SharedSlots.State = .filled
    ) {
        let head = head(area, slot)
        head.pointee.copied_size = size
        head.pointee.copied_start = 0x1F80
        head.pointee.time_ns = 123
        head.pointee.cpu_ns = 45
        head.pointee.state = state.rawValue
        area.outstanding.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }

    @Test func theStatesAreThoseOfTheArea() {
        #expect(SharedSlots.State.idle.rawValue == UInt32(FL_SLOT_IDLE))
        #expect(SharedSlots.State.requested.rawValue == UInt32(FL_SLOT_REQUESTED))
        #expect(SharedSlots.State.busy.rawValue == UInt32(FL_SLOT_BUSY))
        #expect(SharedSlots.State.filled.rawValue == UInt32(FL_SLOT_FILLED))
        #expect(SharedSlots.State.declined.rawValue == UInt32(FL_SLOT_DECLINED))
    }

    @Test func cookiesAreNoSmallNumbers() {
        let cookies = (0..<1000).map { _ in SharedSlots.makeCookie() }
        #expect(cookies.allSatisfy { $0 > 0 && $0 < 1 << 48 })
        #expect(Set(cookies).count == 1000)
    }

    @Test func slotsAreHandedOutOnce() throws {
        let (_, slots) = try Self.made()
        let all = (0..<Int(FL_MOST_SLOTS)).compactMap { _ in slots.take() }
        #expect(Set(all) == Set(0..<Int(FL_MOST_SLOTS)))
        #expect(slots.take() == nil)
        slots.giveBack(77)
        #expect(slots.take() == 77)
        #expect(slots.take() == nil)
        // The signals' values tell all slots apart.
        #expect(Set(all.map(slots.value(for:))).count == all.count)
        #expect(all.allSatisfy { slots.value(for: $0) >> 16 == Self.cookie })
        #expect(all.allSatisfy { Int(slots.value(for: $0) & 0xFFFF) == $0 })
    }

    @Test(arguments: [
        (4096, 4096), (4097, 4096), (100, 100), (0, 0), (-1, 0), (Int.min, 0), (.max, 4096),
    ])
    func requestsHoldTheirLimits(limit: Int, capacity: Int) throws {
        let (area, slots) = try Self.made()
        let slot = try #require(slots.take())
        #expect(Self.request(slots, slot, limit: limit) == .ready)
        let head = Self.head(area, slot).pointee
        #expect(head.state == UInt32(FL_SLOT_REQUESTED))
        #expect(head.stack_low == 0x1000 && head.stack_high == 0x9000)
        #expect(head.capacity == UInt32(capacity))
        #expect(area.buffers.small.contains { UInt64($0.lowerBound) == head.buffer })
        #expect(Self.outstanding(area) == 1)
    }

    @Test func anAnswer() throws {
        let (area, slots) = try Self.made()
        let slot = try #require(slots.take())
        _ = Self.request(slots, slot)
        let head = Self.head(area, slot)
        area.write(Array(1...16), at: Int(head.pointee.buffer))
        withUnsafeMutableBytes(of: &head.pointee.registers) { bytes in
            for index in 0..<17 {
                bytes.storeBytes(of: UInt64(index), toByteOffset: 8 * index, as: UInt64.self)
            }
        }
        Self.answer(area, slot)
        #expect(slots.state(of: slot) == .filled)
        #expect(slots.timeOfAnswer(slot).nanoseconds == 123)
        let answer = slots.takeAnswer(slot)
        #expect(answer.time.nanoseconds == 123 && answer.cpu == 45)
        #expect(answer.stack.start == 0x1F80 && answer.stack.bytes == Array(1...16))
        #expect(!answer.isOnAlternateStack)
        // r8 … r15 rdi rsi rbp rbx rdx rax rcx rsp rip, by their DWARF numbers.
        let order = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16]
        #expect(order.map { answer.registers[$0] } == (0..<17).map { UInt64($0) })
        #expect(slots.state(of: slot) == .idle && Self.outstanding(area) == 0)
    }

    @Test(arguments: [
        Int64.min, -14, 0, 1, 4095, 4096, 4097, 1 << 32, .max,
    ])
    func anAnswersSizeIsBounded(size: Int64) throws {
        let (area, slots) = try Self.made()
        for slot in (0..<area.buffers.count).compactMap({ _ in slots.take() }) {
            #expect(Self.request(slots, slot) == .ready)
            Self.answer(area, slot, size: size)
        }
        for slot in 0..<area.buffers.count {
            let answer = slots.takeAnswer(slot)
            #expect(answer.stack.bytes.count == max(0, min(Int(size), 4096)))
        }
    }

    /// The program writes the head, but we choose the buffer's place.
    @Test func nothingButTheSizeIsBelieved() throws {
        let (area, slots) = try Self.made()
        let slot = try #require(slots.take())
        for byte in [0xFF, 0x80, 0x7F] as [UInt8] {
            _ = Self.request(slots, slot)
            area.write(
                [UInt8](repeating: byte, count: Int(FL_SLOT_SIZE)),
                at: Int(FL_SLOTS) + slot * Int(FL_SLOT_SIZE))
            // A state that does not exist.
            #expect(slots.state(of: slot) == .busy)
            let answer = slots.takeAnswer(slot)
            #expect(answer.time.nanoseconds >= 0 && answer.isOnAlternateStack)
            #expect(answer.stack.bytes.count == (byte == 0x7F ? 4096 : 0))
            #expect(slots.state(of: slot) == .idle)
        }
    }

    @Test func anIdleSlotHasNoStack() throws {
        let (area, slots) = try Self.made()
        let slot = try #require(slots.take())
        Self.answer(area, slot, size: 4096)
        #expect(slots.takeAnswer(slot).stack.bytes.isEmpty)
    }

    // MARK: Buffers

    @Test func buffersRunOutAndComeBack() throws {
        let (area, slots) = try Self.made()
        let taken = (0..<(area.buffers.count + 5)).compactMap { _ in slots.take() }
        let (first, rest) = (taken.prefix(area.buffers.count), taken.dropFirst(area.buffers.count))
        for slot in first { #expect(Self.request(slots, slot) == .ready) }
        let buffers = first.map { Self.head(area, $0).pointee.buffer }
        #expect(Set(buffers).count == area.buffers.count)
        for slot in rest {
            #expect(Self.request(slots, slot) == .noRoom)
            #expect(slots.state(of: slot) == .idle)
        }
        #expect(Self.outstanding(area) == Int32(area.buffers.count))
        // By an answer, a refusal, a cancelled request, a thread's end: one each.
        Self.answer(area, first[0])
        _ = slots.takeAnswer(first[0])
        Self.answer(area, first[1], as: .declined)
        slots.free(first[1])
        slots.cancel(first[2])
        slots.giveBack(first[3])
        let found = rest.map { Self.request(slots, $0) }
        #expect(found == [.ready, .ready, .ready, .ready, .noRoom])
        #expect(
            Set(rest.prefix(4).map { Self.head(area, $0).pointee.buffer }) == Set(buffers[0..<4]))
        #expect(Self.outstanding(area) == Int32(area.buffers.count))
    }

    /// However deep the stack is.
    @Test func framesHaveRoomBehindIt() throws {
        let area = try #require(AgentMemory(stackBytes: 1 << 18))
        area.fill(AgentMemory.Contents(place: 0x7000_0000_0000, recorder: 1, cookie: Self.cookie))
        let slots = SharedSlots(area: area, cookie: Self.cookie)
        let slot = try #require(slots.take())
        func head(frames state: UInt64, limit: Int = .max) -> fl_slot {
            #expect(
                slots.request(
                    slot, stack: 0x10_0000..<0x20_0000, limit: limit, masks: 0, frames: state)
                    == .ready)
            slots.wasSent()
            defer { slots.cancel(slot) }
            return Self.head(area, slot).pointee
        }
        #expect(head(frames: 0).frames_room == 0 && head(frames: 0).capacity == 1 << 18)
        let asked = head(frames: 0x5000)
        #expect(asked.frames_room == 1 << 16)
        #expect(asked.capacity == (1 << 18) - asked.frames_room)
        #expect(head(frames: 0x5000, limit: 5000).capacity == 5000)
        #expect(head(frames: 0x5000, limit: 5000).frames_room == 1 << 16)
    }

    /// A thread that was deep down its stack at the last answer gets one of the larger buffers.
    @Test func aBufferThatIsLargeEnough() throws {
        let area = try #require(AgentMemory(stackBytes: 1 << 18))
        area.fill(AgentMemory.Contents(place: 0x7000_0000_0000, recorder: 1, cookie: Self.cookie))
        let slots = SharedSlots(area: area, cookie: Self.cookie)
        let slot = try #require(slots.take())
        let stack: Range<UInt64> = 0x10_0000..<0x20_0000
        func capacity(at pointer: UInt64) -> UInt32 {
            Self.head(area, slot).pointee.registers.15 = pointer
            #expect(slots.request(slot, stack: stack, limit: .max, masks: 0) == .ready)
            slots.wasSent()
            defer { slots.cancel(slot) }
            return Self.head(area, slot).pointee.capacity
        }
        // Nothing is known, or it was on another stack.
        #expect(capacity(at: 0) == 1 << 18 && capacity(at: 0x20_0000) == 1 << 18)
        #expect(capacity(at: 0x1F_FFF8) == 32 << 10 && capacity(at: 0x1F_C001) == 32 << 10)
        #expect(capacity(at: 0x1F_C000) == 1 << 18 && capacity(at: 0x10_0000) == 1 << 18)
        // A small buffer is better than none.
        let others = (0..<area.buffers.large.count).compactMap { _ in slots.take() }
        for other in others {
            #expect(slots.request(other, stack: stack, limit: .max, masks: 0) == .ready)
        }
        #expect(capacity(at: 0) == 32 << 10)
    }

    // MARK: Refusals

    @Test(arguments: ["displaced", "filtered", "masking", "masks"]) func refusals(reason: String)
        throws
    {
        let (area, slots) = try Self.made()
        let slot = try #require(slots.take())
        switch reason {
        case "displaced": area.set(\.displaced, 1)
        case "filtered": area.silence()
        case "masking": area.set(\.masking, 1)
        default: area.set(\.masks, 7)
        }
        // As often as there are buffers, and more: none is lost.
        for _ in 0..<(2 * area.buffers.count) {
            #expect(Self.request(slots, slot) == .refused)
            #expect(slots.state(of: slot) == .idle)
            #expect(Self.outstanding(area) == 0)
        }
        #expect(slots.isDisplaced == (reason == "displaced"))
        #expect(slots.isFiltered == (reason == "filtered"))
        let isMask = reason == "masks"
        #expect(slots.masks == (isMask ? 7 : 0))
        #expect(Self.request(slots, slot, masks: slots.masks) == (isMask ? .ready : .refused))
        #expect(Self.outstanding(area) == (isMask ? 1 : 0))
    }

    @Test func onlyWhatIsOpenIsCancelled() throws {
        let (area, slots) = try Self.made()
        let slot = try #require(slots.take())
        slots.cancel(slot)
        #expect(Self.outstanding(area) == 0)
        _ = Self.request(slots, slot)
        slots.cancel(slot)
        slots.cancel(slot)
        #expect(slots.state(of: slot) == .idle && Self.outstanding(area) == 0)
        for state in [SharedSlots.State.busy, .filled, .declined] {
            _ = Self.request(slots, slot)
            Self.head(area, slot).pointee.state = state.rawValue
            slots.cancel(slot)
            #expect(slots.state(of: slot) == state)
            #expect(Self.outstanding(area) == 1)
            area.outstanding.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            slots.free(slot)
        }
    }

    @Test func threadsThatEnd() throws {
        let (area, slots) = try Self.made()
        for state in [SharedSlots.State.idle, .requested, .filled, .declined] {
            let slot = try #require(slots.take())
            if state != .idle { #expect(Self.request(slots, slot) == .ready) }
            if state == .filled || state == .declined { Self.answer(area, slot, as: state) }
            slots.giveBack(slot)
            #expect(slots.state(of: slot) == .idle && Self.outstanding(area) == 0)
        }
        let all = (0..<Int(FL_MOST_SLOTS)).compactMap { _ in slots.take() }
        #expect(Set(all).count == Int(FL_MOST_SLOTS))
    }

    // MARK: Any order

    /// Threads come, are asked, answer or not, and go; the program follows the rules.
    @Test(arguments: 0..<30) func everythingIsCountedOnce(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let (area, slots) = try Self.made(Int.random(in: 1...(2 << 20), using: &random))
        var taken: [Int] = []
        var open: Set<Int> = []
        var answered: Set<Int> = []
        for _ in 0..<2000 {
            let slot = taken.randomElement(using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                if let slot = slots.take() { taken.append(slot) }
            case 2, 3, 4:
                guard let slot, slots.state(of: slot) == .idle else { continue }
                if Int.random(in: 0..<30, using: &random) == 0 {
                    area.set(\.masks, slots.masks + 1)
                }
                let isSeen = Int.random(in: 0..<10, using: &random) > 0
                let result = Self.request(
                    slots, slot, limit: .max, masks: isSeen ? slots.masks : slots.masks &- 1)
                let isFull = open.count + answered.count >= area.buffers.count
                #expect(result == (isFull ? .noRoom : isSeen ? .ready : .refused))
                if result == .ready { open.insert(slot) }
            case 5:
                guard let slot = open.randomElement(using: &random) else { continue }
                let size = Int64.random(in: .min ... .max, using: &random)
                let isDeclined = Bool.random(using: &random)
                Self.answer(area, slot, size: size, as: isDeclined ? .declined : .filled)
                open.remove(slot)
                answered.insert(slot)
            case 6:
                guard let slot = answered.randomElement(using: &random) else { continue }
                if slots.state(of: slot) == .declined {
                    slots.free(slot)
                } else {
                    let most = area.buffers.large.first ?? area.buffers.small[0]
                    #expect(slots.takeAnswer(slot).stack.bytes.count <= most.count)
                }
                answered.remove(slot)
            default:
                guard let slot else { continue }
                if Bool.random(using: &random) {
                    slots.cancel(slot)
                } else {
                    slots.giveBack(slot)
                    taken.removeAll { $0 == slot }
                    answered.remove(slot)
                }
                open.remove(slot)
            }
            #expect(Self.outstanding(area) == Int32(open.count))
        }
    }
}
