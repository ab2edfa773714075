import ProfileModel
import Runtimes
import Testing

/// Lists of frames that are made by hand.
struct FrameListReaderTests {
    private static let thread: UInt64 = 0x1000

    private static var layout: FrameListLayout {
        var layout = FrameListLayout(
            newest: 24, threadID: 32, caller: 8, code: 0, codeMask: ~3, record: [.init(0, 24)],
            identity: .init(16, 8))
        layout.arena = (40, 48)
        return layout
    }

    /// - Parameter frames: where they lie, newest first.
    private static func memory(_ frames: [UInt64]) -> MadeMemory {
        var memory = MadeMemory()
        memory.fill(thread..<(thread + 64))
        memory.write(UInt64(77), at: thread + 32)
        memory.write(frames.first ?? 0, at: thread + 24)
        for (index, frame) in frames.enumerated() {
            // With bits that are none of the address.
            memory.write(UInt64(0x9000 + 64 * (index % 3)) | 1, at: frame)
            memory.write(index + 1 < frames.count ? frames[index + 1] : 0, at: frame + 8)
            memory.write(UInt64(index), at: frame + 16)
        }
        for code in 0..<3 {
            memory.write(UInt64(500 + code), at: 0x9000 + 64 * UInt64(code) + 16)
        }
        return memory
    }

    private static let reader = FrameListReader(layout)
    private static let places = (0..<400).map { 0x10_0000 + 4096 * UInt64($0) }

    @Test func `a list is read to its end`() throws {
        for count in [0, 1, 2, 200] {
            let frames = Array(Self.places[..<count])
            let copy = try #require(Self.reader.read(thread: Self.thread, Self.memory(frames)))
            #expect(copy.thread == Self.thread && copy.threadID == 77 && copy.rest == 0)
            #expect(copy.newest == frames.first ?? 0)
            #expect(copy.addresses == frames)
            #expect(copy.records.count == 24 * count)
            let identities = (0..<count).map { UInt8(truncatingIfNeeded: 500 + $0 % 3) }
            #expect(stride(from: 0, to: 8 * count, by: 8).map { copy.identities[$0] } == identities)
        }
    }

    @Test func `frames of two parts, found through something else`() throws {
        var layout = FrameListLayout(
            newest: 24, newestInside: 8, threadID: nil, caller: 8, code: 0,
            record: [.init(0, 16), .init(32, 8)], identity: .init(16, 8))
        layout.codeMask = ~3
        var memory = Self.memory([0x10_0000, 0x20_0000])
        memory.write(UInt64(0x8000), at: Self.thread + 24)
        memory.write(UInt64(0x10_0000), at: 0x8008)
        memory.write(UInt64(11), at: 0x10_0020)
        memory.write(UInt64(12), at: 0x20_0020)
        let copy = try #require(FrameListReader(layout).read(thread: Self.thread, memory))
        #expect(copy.newest == 0x8000 && copy.threadID == nil)
        #expect(copy.addresses == [0x10_0000, 0x20_0000])
        #expect([copy.records[16], copy.records[40]] == [11, 12])
    }

    @Test func `a copy says where it stopped`() throws {
        let memory = Self.memory(Self.places)
        let short = try #require(Self.reader.read(thread: Self.thread, memory, limit: 10))
        #expect(short.addresses == Array(Self.places[..<10]) && short.rest == Self.places[10])
        var torn = memory
        torn.clear(Self.places[5]..<(Self.places[5] + 24))
        let copy = try #require(Self.reader.read(thread: Self.thread, torn))
        #expect(copy.addresses.count == 5 && copy.rest == Self.places[5])
        // Where no frame can be.
        torn.write(UInt64(0x1234_5677), at: Self.places[2] + 8)
        let odd = try #require(Self.reader.read(thread: Self.thread, torn))
        #expect(odd.addresses.count == 3 && odd.rest == 0x1234_5677)
    }

    @Test func `code that cannot be read has zeros`() throws {
        var memory = Self.memory(Array(Self.places[..<3]))
        memory.clear(0x9040..<0x9080)
        let copy = try #require(Self.reader.read(thread: Self.thread, memory))
        #expect(copy.identities.count == 24)
        #expect(copy.identities[8..<16].allSatisfy { $0 == 0 })
        #expect(copy.identities[16] == UInt8(truncatingIfNeeded: 502))
    }

    @Test func `a list that bites its own tail is none`() {
        for target in [0, 1, 3] {
            var memory = Self.memory(Array(Self.places[..<4]))
            memory.write(Self.places[target], at: Self.places[3] + 8)
            #expect(Self.reader.read(thread: Self.thread, memory) == nil)
        }
    }

    @Test func `a state that is not there has no frames`() {
        #expect(Self.reader.read(thread: 0x5000, MadeMemory()) == nil)
        #expect(Self.reader.read(thread: 0, Self.memory([])) == nil)
        #expect(Self.reader.read(thread: Self.thread + 1, Self.memory([])) == nil)
    }

    @Test func `the rest of a deep stack follows`() throws {
        let memory = Self.memory(Self.places)
        let short = try #require(Self.reader.read(thread: Self.thread, memory, limit: 10))
        let whole = Self.reader.continuing(short, memory)
        #expect(whole == Self.reader.read(thread: Self.thread, memory, limit: 1000))
        #expect(Self.reader.continuing(whole, memory) == whole)
        let some = Self.reader.continuing(short, memory, limit: 50)
        #expect(some.addresses.count == 50 && some.rest == Self.places[50])
        // The thread runs on, deeper inside.
        var running = memory
        running.write(UInt64(0), at: Self.thread + 24)
        running.write(UInt64(99), at: Self.places[8] + 16)
        #expect(Self.reader.continuing(short, running) == whole)
        // It has left the last frame of the copy, or is at another place in it.
        running.write(UInt64(99), at: Self.places[9] + 16)
        #expect(Self.reader.continuing(short, running) == short)
        running.clear(Self.places[9]..<(Self.places[9] + 8))
        #expect(Self.reader.continuing(short, running) == short)
    }

    @Test func `missing identities are completed`() throws {
        let memory = Self.memory(Self.places)
        let whole = try #require(Self.reader.read(thread: Self.thread, memory, limit: 1000))
        var copy = whole
        copy.identities.removeLast(8 * 100)
        #expect(Self.reader.continuing(copy, memory) == whole)
        var running = memory
        running.write(UInt64(9), at: Self.places[300] + 16)
        #expect(Self.reader.continuing(copy, running) == copy)
    }

    @Test func `a thread that ran meanwhile has no copy`() {
        for place in [Self.thread + 24, Self.places[0] + 16] {
            let memory = ChangingMemory(Self.memory(Array(Self.places[..<5])), place: place)
            #expect(Self.reader.read(thread: Self.thread, memory) == nil)
        }
    }

    @Test func `an arena is read at once`() throws {
        let frames = (0..<200).map { 0x10_0000 + 24 * UInt64(199 - $0) }
        var memory = Self.memory(frames)
        memory.write(UInt64(0x10_0000), at: Self.thread + 40)
        memory.write(UInt64(0x10_0000 + 24 * 200), at: Self.thread + 48)
        let counting = CountingMemory(memory)
        let copy = try #require(Self.reader.read(thread: Self.thread, counting))
        #expect(copy.addresses == frames)
        // The state, the arena, three codes, and a look whether the thread is still there.
        #expect(counting.count <= 9)
        // Ends that cannot be do no harm.
        for (start, top): (UInt64, UInt64) in [(0, .max), (.max, 0), (8, 1 << 40), (9, 9)] {
            memory.write(start, at: Self.thread + 40)
            memory.write(top, at: Self.thread + 48)
            #expect(Self.reader.read(thread: Self.thread, memory) == copy)
        }
    }

    @Test func `frames beside an arena do not have it read again`() throws {
        // Two in the arena, one elsewhere, and so on.
        let frames = (0..<120).map { (index: UInt64) -> UInt64 in
            if index % 3 == 2 { return 0x20_0000 + 4096 * index }
            return 0x10_0000 + 24 * (120 - index)
        }
        var memory = Self.memory(frames)
        memory.write(UInt64(0x10_0000), at: Self.thread + 40)
        memory.write(UInt64(0x10_0000 + 24 * 121), at: Self.thread + 48)
        memory.fill(0x10_0000..<0x10_1000)
        for index in 0..<40 {
            let page = 0x20_0000 + 4096 * UInt64(3 * index + 2)
            memory.fill(page..<(page + 4096))
        }
        let counting = CountingMemory(memory)
        let copy = try #require(Self.reader.read(thread: Self.thread, counting))
        #expect(copy.addresses == frames)
        #expect(counting.count <= 40 + 9)
    }

    /// One of its words is another one at the second read.
    private final class ChangingMemory: RuntimeMemory {
        private var memory: MadeMemory
        private let place: UInt64

        init(_ memory: MadeMemory, place: UInt64) { (self.memory, self.place) = (memory, place) }

        func bytes(at address: UInt64, count: Int) -> [UInt8]? {
            let bytes = memory.bytes(at: address, count: count)
            if bytes != nil, address <= place, place - address < UInt64(count) {
                memory.write(UInt64(0x4440), at: place)
            }
            return bytes
        }
    }

    private final class CountingMemory: RuntimeMemory {
        private let memory: MadeMemory
        private(set) var count = 0

        init(_ memory: MadeMemory) { self.memory = memory }

        func bytes(at address: UInt64, count: Int) -> [UInt8]? {
            self.count += 1
            return memory.bytes(at: address, count: count)
        }
    }
}
