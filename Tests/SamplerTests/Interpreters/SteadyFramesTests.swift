import Agent
import CAgent
import ProfileModel
import Runtimes
import TestSupport
import Testing

@testable import Sampler

/// A list whose records are two pointers, an instruction, and a first local.
private let list: FrameListLayout = {
    var list = FrameListLayout(
        newest: 0, threadID: 8, caller: 8, code: 0, record: [.init(0, 32)], identity: .init(0, 8))
    list.arena = (16, 24)
    return list
}()

private struct MadeFrame: Hashable {
    var address: UInt64
    var code: UInt64
    var instruction: UInt64
    var local: UInt64 = 0
    var identity: UInt64?
}

extension [UInt64] {
    fileprivate var bytes: [UInt8] {
        flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }
}

/// Newest first.
private func copy(_ frames: [MadeFrame], rest: UInt64 = 0) -> RuntimeCopy {
    var result = RuntimeCopy(
        thread: 64, threadID: 7, newest: frames.first?.address ?? 0, rest: rest)
    for (index, frame) in frames.enumerated() {
        let caller = index + 1 < frames.count ? frames[index + 1].address : rest
        result.addresses.append(frame.address)
        result.records += [frame.code, caller, frame.instruction, frame.local].bytes
        result.identities += [frame.identity ?? frame.code &+ 1].bytes
    }
    return result
}

@Suite struct SteadyFramesTests {
    private let main = MadeFrame(address: 0x1000, code: 0x10, instruction: 4)
    private let middle = MadeFrame(address: 0x1100, code: 0x20, instruction: 8)

    private func steady(_ before: [MadeFrame], _ after: [MadeFrame]) -> [UInt64]? {
        let found = RuntimeCopy.steady(copy(before), copy(after), list)
        if let found {
            #expect(found.lacksNewest)
            #expect(found.records.count == found.addresses.count * list.recordSize)
            #expect(found.identities.count == found.addresses.count * 8)
        }
        return found?.addresses
    }

    @Test func framesInBothLooksWereThereBetween() {
        let leaf = MadeFrame(address: 0x1200, code: 0x30, instruction: 2)
        let other = MadeFrame(address: 0x1200, code: 0x40, instruction: 2)
        #expect(steady([leaf, middle, main], [other, middle, main]) == [0x1100, 0x1000])
        // It has called no function, or another one.
        #expect(steady([middle, main], [other, middle, main]) == [0x1100, 0x1000])
    }

    /// The newest of these frames may have gone on; which function it called then is not known.
    @Test func theFirstThatHasMovedIsTheLastThatCounts() {
        var moved = middle
        moved.instruction = 10
        let leaf = MadeFrame(address: 0x1200, code: 0x30, instruction: 2)
        #expect(steady([leaf, middle, main], [leaf, moved, main]) == [0x1100, 0x1000])
    }

    @Test func aLocalVariableMayChange() {
        var changed = main
        changed.local = 99
        #expect(steady([middle, main], [middle, changed]) == [0x1100, 0x1000])
    }

    @Test func anotherCodeAtTheSameAddressIsAnother() {
        var other = middle
        other.identity = 5
        #expect(steady([middle, main], [other, main]) == [0x1000])
        other = main
        other.code = 0x11
        #expect(steady([main], [other]) == nil)
    }

    @Test func looksThatDoNotReachTheEndTellNothing() {
        let before = copy([middle, main])
        #expect(RuntimeCopy.steady(before, copy([middle], rest: 0x1000), list) == nil)
        var cut = before
        cut.identities.removeLast()
        #expect(RuntimeCopy.steady(before, cut, list) == nil)
        var other = before
        other.thread = 72
        #expect(RuntimeCopy.steady(before, other, list) == nil)
    }
}

/// A thread's state and frames that change after each read of the state.
private final class MovingMemory: RuntimeMemory {
    private let moments: [[MadeFrame]]
    /// Frames that are over stay in memory until others lie there.
    private var frames: [UInt64: [UInt8]] = [:]
    private var reads = 0

    init(_ moments: [MadeFrame]...) {
        self.moments = moments
        write(moments[0])
    }

    private func write(_ moment: [MadeFrame]) {
        let made = copy(moment)
        for (index, address) in made.addresses.enumerated() {
            frames[address] = Array(made.records[index * 32..<(index + 1) * 32])
        }
    }

    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        guard address != 64 else {
            let now = moments[min(reads, moments.count - 1)]
            reads += 1
            write(moments[min(reads, moments.count - 1)])
            let state: [UInt64] = [now[0].address, 7, 0, 0]
            return Array(state.bytes.prefix(count))
        }
        if let record = frames[address], count <= 32 { return Array(record.prefix(count)) }
        // A code's identity.
        return count == 8 ? [address &+ 1].bytes : nil
    }
}

@Suite struct LookTests {
    private let main = MadeFrame(address: 0x1000, code: 0x10, instruction: 4)
    private let sorts = MadeFrame(address: 0x1100, code: 0x20, instruction: 8)
    private let runs = MadeFrame(address: 0x1100, code: 0x28, instruction: 2)
    private let key = MadeFrame(address: 0x1200, code: 0x30, instruction: 2)
    private let inner = MadeFrame(address: 0x1200, code: 0x38, instruction: 2)

    private func look(_ moments: MovingMemory) -> [UInt64]? {
        let found = FrameListReader(list).look(at: 64, moments)
        #expect(found?.lacksNewest != false || found?.addresses.isEmpty == true)
        return found.map { found in
            (0..<found.addresses.count).compactMap {
                found.records.littleEndianWord(at: $0 * 32)
            }
        }
    }

    @Test func aThreadThatStaysIsSeenWhole() {
        #expect(look(MovingMemory([key, sorts, main])) == [0x30, 0x20, 0x10])
    }

    /// The thread has left the called function and its caller while its list was read; another
    /// function has their memory now.
    @Test func noCallerFromAChangingList() {
        #expect(look(MovingMemory([key, sorts, main], [runs, main])) == [0x28, 0x10])
        #expect(
            look(MovingMemory([key, sorts, main], [runs, main], [inner, runs, main]))
                == [0x28, 0x10])
        #expect(look(MovingMemory([sorts, main], [key, sorts, main])) == [0x20, 0x10])
    }

    @Test func noListAndNoStateAreTwoThings() {
        let others = [8, 16].map { [MadeFrame(address: 0x1000, code: $0, instruction: 1)] }
        #expect(look(MovingMemory([main], others[0], others[1])) == [])
        #expect(FrameListReader(list).look(at: 65, MovingMemory([main])) == nil)
    }
}

@Suite struct LooksTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    /// Each look has an outermost frame that all have, and one of its own.
    private func looks(at times: Int64...) -> Looks {
        var looks = Looks()
        for moment in times {
            let frames = copy([
                MadeFrame(address: 0x2000, code: UInt64(moment), instruction: 4),
                MadeFrame(address: 0x1000, code: 0x10, instruction: 4),
            ])
            looks.add(
                Look(copy: frames, time: time(moment)...time(moment), ran: .milliseconds(moment)))
        }
        return looks
    }

    private func isKnown(_ looks: Looks, at sample: Int64) -> Bool {
        looks.frames(at: time(sample), on: Self.nowhere, list)?.addresses == [0x1000]
    }

    private static let nowhere = StackCopy(start: 0x7000, bytes: [])

    @Test func onlyASampleBetweenLooksHasFrames() {
        let two = looks(at: 5, 7)
        #expect((4...8).map { isKnown(two, at: $0) } == [false, false, true, false, false])
        // Between a look and itself nothing has moved.
        #expect(two.frames(at: time(5), on: Self.nowhere, list)?.addresses == [0x2000, 0x1000])
        #expect(Looks().frames(at: time(5), on: Self.nowhere, list) == nil)
    }

    /// A greenlet has a list of its own. Where the thread has changed from one to another between two
    /// looks, its stack tells which it ran; a list of which the stack knows nothing is not believed.
    @Test func theStackTellsWhichOfTwoLists() {
        let (one, other) = ([UInt64(0x1000), 0x1100], [UInt64(0x2000), 0x2100])
        var looks = Looks()
        for (moment, frames) in [(Int64(5), one), (7, other)] {
            let frames = frames.map { MadeFrame(address: $0, code: $0 &+ 0x10, instruction: 4) }
            looks.add(
                Look(
                    copy: copy(frames), time: time(moment)...time(moment),
                    ran: .milliseconds(moment)))
        }
        func found(_ words: UInt64...) -> [UInt64]? {
            let found = looks.frames(
                at: time(6), on: StackCopy(start: 0x7000, bytes: words.bytes + [0]), list)
            #expect(found?.lacksNewest != false)
            return found?.addresses
        }
        #expect(found(1, 0x1100, 2) == one)
        #expect(found(1, 2, 0x2000) == other)
        #expect(found(1, 0x1008, 0x2001) == nil)
    }

    /// The news of a sample may come only after the next look, or later.
    @Test func aSampleThatIsToldLateHasTheLooksAroundIt() {
        let many = looks(at: 5, 7, 9, 11)
        #expect([6, 8, 10].allSatisfy { isKnown(many, at: $0) })
        var alike = many
        let frames = copy([MadeFrame(address: 0x3000, code: 0x30, instruction: 4)])
        alike.add(Look(copy: frames, time: time(13)...time(13), ran: .milliseconds(13)))
        // Later looks do not matter.
        #expect([8, 10].allSatisfy { isKnown(alike, at: $0) })
        #expect(!isKnown(alike, at: 12))
    }

    /// The part of the list that was read before the sample is not known.
    @Test func aSampleDuringALookIsBetweenItsNeighbours() {
        var three = looks(at: 5, 11)
        let frames = copy([MadeFrame(address: 0x3000, code: 0x30, instruction: 4)])
        three.add(Look(copy: frames, time: time(7)...time(9), ran: .milliseconds(9)))
        #expect((6...10).map { isKnown(three, at: $0) } == [false, false, true, false, false])
    }

    /// Otherwise the look at 7 would not come between those at 5 and 9, which have nothing in
    /// common.
    @Test func aLookThatIsHandedOnLateHasItsPlace() {
        var late = looks(at: 5)
        let frames = copy([MadeFrame(address: 0x3000, code: 0x30, instruction: 4)])
        late.add(Look(copy: frames, time: time(9)...time(9), ran: .milliseconds(9)))
        #expect(late.frames(at: time(6), on: Self.nowhere, list) == nil)
        let between = copy([MadeFrame(address: 0x1000, code: 0x10, instruction: 4)])
        late.add(Look(copy: between, time: time(7)...time(7), ran: .milliseconds(7)))
        #expect(isKnown(late, at: 6) && !isKnown(late, at: 8))
    }

    @Test func oldLooksTellNothing() {
        #expect(isKnown(looks(at: 1, 21), at: 20))
        #expect(!isKnown(looks(at: 0, 21), at: 20))
    }

    /// On a busy machine a thread that had no core for long is where it was.
    @Test func aThreadWithoutACoreKeepsItsFrames() {
        let frames = copy([MadeFrame(address: 0x1000, code: 0x10, instruction: 4)])
        var rare = Looks()
        rare.add(Look(copy: frames, time: time(1)...time(1), ran: .milliseconds(1)))
        rare.add(Look(copy: frames, time: time(900)...time(900), ran: .milliseconds(21)))
        #expect(isKnown(rare, at: 500))
    }

    @Test func onlyTheLatestAreKept() {
        let many = looks(at: 1, 2, 4, 5, 6)
        #expect(many.frames(at: time(1), on: Self.nowhere, list) == nil)
        #expect(isKnown(many, at: 3))
    }
}

@Suite struct CopiedFramesTests {
    /// As our code in the program writes it: a head of 40 bytes, each frame's address and record, and
    /// identities.
    private func written(_ copy: RuntimeCopy, identified: Int) -> [UInt8] {
        var bytes = [copy.thread, copy.threadID ?? 0, copy.newest, copy.rest].bytes
        bytes += [UInt64(copy.addresses.count) | UInt64(identified) << 32].bytes
        for (index, address) in copy.addresses.enumerated() {
            bytes += [address].bytes + copy.records[index * 32..<(index + 1) * 32]
        }
        return bytes + copy.identities.prefix(identified * 8)
    }

    @Test func writtenFramesAreReadBack() {
        let frames = (0..<5).map {
            MadeFrame(address: 0x1000 - 0x10 * UInt64($0), code: UInt64($0), instruction: 1)
        }
        for rest in [0, 0x500] as [UInt64] {
            let made = copy(frames, rest: rest)
            #expect(RuntimeCopy(written(made, identified: 5), of: list) == made)
            var fewer = made
            fewer.identities.removeLast(16)
            #expect(RuntimeCopy(written(made, identified: 3), of: list) == fewer)
        }
    }

    @Test func invalidListsHaveNoFrames() {
        let bytes = written(
            copy([MadeFrame(address: 1, code: 2, instruction: 3)]), identified: 1)
        for count in 0..<bytes.count {
            #expect(RuntimeCopy(Array(bytes.prefix(count)), of: list) == nil)
        }
        #expect(RuntimeCopy(bytes + [0], of: list) == nil)
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<2000 {
            var wild = bytes
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                wild[Int.random(in: 0..<wild.count, using: &numbers)] = .random(
                    in: 0...255, using: &numbers)
            }
            _ = RuntimeCopy(wild, of: list)
        }
    }

    @Test func onlyListsThatOurCodeCanFollowAreTaken() {
        #expect(fl_frame_list(list) != nil)
        var other = list
        other.caller = 28
        #expect(fl_frame_list(other) == nil)
        other = list
        other.record = []
        #expect(fl_frame_list(other) == nil)
        other = list
        other.identity = .init(0, 128)
        #expect(fl_frame_list(other) == nil)
        other = list
        other.record = [.init(8, 24), .init(64, 8)]
        other.code = 16
        let found = fl_frame_list(other)
        #expect(found?.caller == 0)
        #expect(found?.code == 8)
        #expect(found?.part_offsets.1 == 64)
    }
}
