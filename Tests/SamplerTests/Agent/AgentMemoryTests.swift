import Architecture
import CAgent
import CSystem
import Glibc
import ProfileModel
import Synchronization
import TestSupport
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// The memory that the program shares with us: the program may write anything there.
@Suite struct AgentMemoryTests {
    private static func area(_ stackBytes: Int = 4096) throws -> AgentMemory {
        try #require(AgentMemory(stackBytes: stackBytes))
    }

    private static func filled(_ change: (inout AgentMemory.Contents) -> Void = { _ in }) throws
        -> AgentMemory
    {
        let area = try area()
        var contents = AgentMemory.Contents(place: 0x7000_0000_0000, recorder: 77, cookie: 5)
        change(&contents)
        area.fill(contents)
        return area
    }

    private static func state(of area: AgentMemory) -> fl_state {
        area.read(fl_state.self, at: Int(FL_STATE))
    }

    @Test(arguments: [
        (Int.min, 4096), (-1, 4096), (0, 4096), (4096, 4096), (4097, 8192), (65536, 65536),
        (1 << 20, 1 << 20), (64 << 20, 64 << 20),
    ])
    func sizes(stackBytes: Int, bufferSize: Int) throws {
        let area = try Self.area(stackBytes)
        let (small, large) = (area.buffers.small, area.buffers.large)
        #expect(small.count == 64 && small.allSatisfy { $0.count == min(bufferSize, 32768) })
        #expect(large.isEmpty == (bufferSize <= 32768))
        #expect(large.isEmpty || (8...64).contains(large.count))
        #expect(large.allSatisfy { $0.count == bufferSize })
        #expect(large.count * bufferSize <= max(16 << 20, 8 * bufferSize))
        #expect(area.size == AgentMemory.size(stackBytes: stackBytes))
        #expect(area.size % 4096 == 0)
        // One behind the other, from the ring to the end.
        let all = small + large
        #expect(all[0].lowerBound == Int(FL_RING) + SignpostRing.size())
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(all[all.count - 1].upperBound == area.size)
    }

    /// How much of the program's limits the area uses. (With many cores some buffers more.)
    @Test func theUsualSizeIsModest() throws {
        let area = try Self.area(SamplerOptions.usualStackBytes)
        #expect(area.size - area.buffers.large.count << 18 < 8 << 20)
    }

    // MARK: Filling in

    @Test func theAreaIsFilledIn() throws {
        let area = try Self.filled { contents in
            contents.signal = (23, 1)
            contents.debug = 0x1111
            contents.startPointer = 0x2222
            contents.startIsProtected = true
            contents.main = 0x3333
            contents.isGated = true
            contents.island = 0x4000
            contents.sites = CallSites.unknown
        }
        let state = Self.state(of: area)
        #expect(state.phase == UInt32(FL_PHASE_EMPTY) && state.next_area == -1)
        #expect(state.recorder == 77 && state.cookie == 5 && state.size == UInt64(area.size))
        #expect(state.sample_signal == 23 && state.original_handler == 1)
        #expect(state.settled_flags & 0x0400_0000 != 0)
        #expect(state.debug == 0x1111 && state.is_started == 0 && state.known == 0)
        #expect(state.start_pointer == 0x2222 && state.start_is_protected == 1)
        #expect(state.real_main == 0x3333 && state.island == 0x4000)
        #expect(state.gate == UInt32(FL_GATE_CLOSED))
        #expect(state.wants_sites == 0x3F)
        #expect([state.sites.0, state.sites.1, state.sites.2, state.sites.3] == [0, 0, 0, 0])
        #expect(state.opens == UInt32(FL_FIRST_OPEN) && state.libraries == 0)
        #expect(area.copy(at: 0, count: AgentCode.bytes.count) == AgentCode.bytes)
        #expect(area.code == area.address..<(area.address + UInt64(FL_STATE)))
    }

    /// The thread that was to map it has given up in the meantime.
    @Test func anAbandonedAreaStaysAbandoned() throws {
        let area = try Self.area(4096)
        area.set(\.phase, UInt32(FL_PHASE_ABANDONED))
        area.fill(AgentMemory.Contents(place: 0x7000_0000_0000, recorder: 1, cookie: 5))
        #expect(area.isAbandoned && !area.open() && area.isAbandoned)
        #expect(Self.state(of: area).cookie == 5)
    }

    @Test func partsThatAreLeftOut() throws {
        let state = Self.state(of: try Self.filled { $0.known = Int.max })
        #expect(state.sample_signal == 0 && state.settled_flags == 0 && state.wants_sites == 0)
        #expect(state.is_started == 1 && state.known == .max)
        #expect(state.gate == UInt32(FL_GATE_OPEN) && state.patch_count == 0)
        #expect(Self.state(of: try Self.filled { $0.known = -1 }).known == 0)
    }

    @Test(arguments: [0, 1, 79, 80, 81, 1000]) func patches(count: Int) throws {
        let area = try Self.filled { contents in
            contents.patches = (0..<count).map { number in
                AgentMemory.Patch(
                    address: UInt64(number), word: UInt64(number) << 32, target: UInt64(number) << 8
                )
            }
        }
        let state = Self.state(of: area)
        #expect(state.patch_count == UInt64(min(count, AgentMemory.mostPatches)))
        withUnsafeBytes(of: state.patches) { bytes in
            let patches = bytes.bindMemory(to: fl_patch.self)
            #expect(patches.count == AgentMemory.mostPatches)
            for (number, patch) in patches.enumerated() {
                let value = number < count ? UInt64(number) : 0
                #expect(patch.address == value)
                #expect(patch.word == value << 32 && patch.target == value << 8)
            }
        }
        // The memory behind the patches is not taken for a patch.
        #expect(state.debug == 0)
    }

    @Test func openingOnce() throws {
        let area = try Self.filled()
        #expect(!area.isSettled)
        #expect(area.open())
        #expect(!area.open())
        #expect(!area.isSettled)
        area.set(\.phase, UInt32(FL_PHASE_SETTLED))
        area.set(\.address, 0x7111_0000_0000)
        #expect(area.isSettled && area.address == 0x7111_0000_0000)
        // A child may write there, too.
        area.set(\.address, 0x7222_0000_0000)
        #expect(area.isSettled && area.address == 0x7111_0000_0000)
        let late = try Self.filled()
        late.set(\.phase, UInt32(FL_PHASE_ABANDONED))
        #expect(!late.open())
        #expect(late.value(\.phase) == UInt32(FL_PHASE_ABANDONED))
    }

    /// Another process's memory is taken only if it is such a file, of that size, for good.
    @Test func memoryOfOthers() throws {
        let area = try Self.area()
        let descriptor = area.inheritable
        #expect(
            AgentMemory(of: KernelProcess(pid: getpid()), descriptor: descriptor, stackBytes: 4096)
                != nil)
        #expect(
            AgentMemory(of: KernelProcess(pid: getpid()), descriptor: descriptor, stackBytes: 8192)
                == nil)
        for number in [-1, Int32.max, .min] {
            #expect(
                AgentMemory(of: KernelProcess(pid: getpid()), descriptor: number, stackBytes: 4096)
                    == nil)
        }
        #expect(
            AgentMemory(of: KernelProcess(pid: .max), descriptor: descriptor, stackBytes: 4096)
                == nil)
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        #expect(
            AgentMemory(of: KernelProcess(pid: getpid()), descriptor: null, stackBytes: 4096) == nil
        )
        let scratch = try Scratch()
        let file = open(try scratch.write("", to: "file"), O_RDWR)
        defer { close(file) }
        ftruncate(file, off_t(area.size))
        #expect(
            AgentMemory(of: KernelProcess(pid: getpid()), descriptor: file, stackBytes: 4096) == nil
        )
        // The program's own memory, which no other process may write to.
        let own = fl_make_memory("program", area.size)
        try #require(own >= 0)
        defer { close(own) }
        #expect(
            AgentMemory(of: KernelProcess(pid: getpid()), descriptor: own, stackBytes: 4096) == nil)
        area.wasInherited()
        #expect(area.inheritable == -1)
        area.wasInherited()
    }

    // MARK: Readers

    /// Values that the recorder must not believe.
    private static let hostile: [UInt64] = [
        .max, 1 << 63, (1 << 63) - 1, 0xFFFF_FFFF, 0x8000_0000, 0x7FFF_FFFF, 0x1_0000_0000, 4096,
        1025, 65, 64, 2, 1, 0,
    ]

    private static func overwrite(_ area: AgentMemory, _ range: Range<Int>, with byte: UInt8) {
        area.write([UInt8](repeating: byte, count: range.count), at: range.lowerBound)
    }

    private static let written = Int(FL_STATE)..<Int(FL_STACKS)

    /// Asks for everything that is read without an address in the program.
    private static func readAll(_ area: AgentMemory) {
        let counts = area.counts
        #expect((0...Int(FL_MOST_OPENS)).contains(counts.opens))
        #expect((0...Int(FL_MOST_LIBRARIES)).contains(counts.libraries))
        #expect((0...AgentMemory.mostRecords).contains(counts.records))
        for index in 0..<AgentMemory.mostRecords {
            guard let note = area.note(index) else { continue }
            #expect((0...0xFFFF).contains(note.library))
        }
        for index in 0..<Int(FL_MOST_LIBRARIES) {
            let load = area.load(index)
            #expect((0...(1 << 32)).contains(load.initializers))
            let isPossible = load.open.map {
                (Int(FL_FIRST_OPEN)..<Int(FL_MOST_OPENS)).contains($0)
            }
            #expect(isPossible != false)
        }
        for index in 0..<Int(FL_MOST_OPENS) {
            let moment = area.open(index)
            #expect(moment.time.nanoseconds >= 0)
            #expect(moment.stack.stack.bytes.count <= Int(FL_OPEN_STACK))
            #expect(moment.stack.stack.start == moment.stack.registers.stackPointer)
        }
        for border in NotedBorder.allCases { _ = area.border(border) }
        #expect(area.hookedWords.count <= Int(FL_SITES))
        _ = (area.isDisplaced, area.isFiltered, area.isAboutToExecute, area.isGateWaiting)
        for time in [\fl_state.settled_ns, \.mapping_ns, \.gate_ns, \.gate_end_ns] {
            #expect(area.time(time).map { $0.nanoseconds > 0 } != false)
        }
        _ = area.makeTrampolineSpaces()
    }

    @Test(arguments: [0, 0xFF, 0x7F, 0x80, 1, 2] as [UInt8]) func oneByteEverywhere(byte: UInt8)
        throws
    {
        let area = try Self.filled()
        Self.overwrite(area, Self.written, with: byte)
        Self.readAll(area)
    }

    @Test(arguments: 0..<12) func valuesOfTheProgramAreBounded(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let area = try Self.filled()
        for _ in 0..<3000 {
            // The state's words, of which there are few, count as much as all the rest.
            let limit =
                Bool.random(using: &random) ? MemoryLayout<fl_state>.size : Self.written.count
            let offset = Int(FL_STATE) + Int.random(in: 0..<(limit / 4 - 1), using: &random) * 4
            let value = Self.hostile.randomElement(using: &random) ?? random.next()
            area.write(
                (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }, at: offset)
        }
        Self.readAll(area)
        // The area also claims an address: then callers get some range.
        area.set(\.phase, UInt32(FL_PHASE_SETTLED))
        area.set(\.address, 0x7000_0000_0000)
        area.set(\.island, 0)
        #expect(area.isSettled && area.range.count == area.size)
    }

    @Test func notesAsTheyAreWritten() throws {
        let area = try Self.filled()
        #expect(area.note(7) == nil)
        var record = fl_initializer()
        (record.function, record.tid, record.library) = (0x1234, 99, 0xABCD_0003)
        (record.start_ns, record.end_ns) = (10, 20)
        (record.start_cpu_ns, record.end_cpu_ns) = (-3, 4)
        for state: UInt32 in [0, 1, 2, 3, .max] {
            record.state = state
            withUnsafeBytes(of: record) { area.write(Array($0), at: Int(FL_RECORDS) + 7 * 64) }
            let end = state == 2 ? MonotonicTime(nanoseconds: 20) : nil
            let expected = AgentMemory.Note(
                function: 0x1234, tid: 99, library: 3, start: MonotonicTime(nanoseconds: 10),
                end: end, cpuAtStart: -3, cpuAtEnd: 4)
            #expect(area.note(7) == (state == 1 || state == 2 ? expected : nil))
        }
        #expect(area.note(6) == nil && area.note(8) == nil)
    }

    @Test(
        arguments: [
            (0, nil), (1, nil), (2, 2), (511, 511), (512, nil), (UInt64.max, nil), (1 << 63, nil),
            (1 << 32 + 2, nil),
        ] as [(UInt64, Int?)])
    func callsOfLibraries(number: UInt64, open: Int?) throws {
        let area = try Self.filled()
        var library = fl_library()
        (library.map, library.open, library.count) = (5, number, 3)
        for (own, count) in [(0, 3), (1, 4), (UInt64.max, 4)] {
            library.initializer = own
            withUnsafeBytes(of: library) {
                area.write(Array($0), at: Int(FL_LIBRARIES) + 1023 * 192)
            }
            #expect(area.load(1023) == AgentMemory.Load(map: 5, initializers: count, open: open))
        }
    }

    @Test(
        arguments: [
            (Int64.min, 0, 0), (-14, 0, 0), (0, 0, 0), (8, 0, 8), (65536, 77, 65536),
            (65537, 0, 65536), (.max, 0, 65536), (65536, 0x10_0000 - 9, 9), (.max, 0x10_0000, 0),
            (.max, .max, 0),
        ] as [(Int64, UInt32, Int)])
    func stacksOfCalls(size: Int64, place: UInt32, copied: Int) throws {
        let area = try Self.filled()
        var open = fl_open()
        (open.copied_size, open.stack) = (size, place)
        open.start_ns = -1
        (open.cpu_ns, open.tid) = (.min, .max)
        open.blocks_read = .max
        open.registers = (0x7F00, 1, 2, 3, 4, 5, 6, 7)
        withUnsafeBytes(of: open) { area.write(Array($0), at: Int(FL_OPENS) + 511 * 256) }
        if copied > 0 { area.write([0xAB], at: Int(FL_STACKS) + Int(place) + copied - 1) }
        let moment = area.open(511)
        #expect(moment.time.nanoseconds == 0 && moment.tid == -1)
        #expect(moment.stack.stack.bytes.count == copied)
        #expect(moment.stack.stack.start == 0x7F00)
        #expect(moment.stack.stack.bytes.last == (copied == 0 ? nil : 0xAB))
        // In the order in which they are kept: rsp rip rbp rbx r12 r13 r14 r15.
        #expect(
            [7, 16, 6, 3, 12, 13, 14, 15].map { moment.stack.registers[$0] }
                == [0x7F00, 1, 2, 3, 4, 5, 6, 7])
        #expect([0, 1, 2, 4, 5, 8, 9, 10, 11].allSatisfy { moment.stack.registers[$0] == nil })
    }

    @Test(arguments: [0, 1, 2, 3, 4, .max] as [UInt32]) func borders(bits: UInt32) throws {
        let area = try Self.filled()
        area.set(\.borders, bits)
        for border in NotedBorder.allCases {
            #expect((area.border(border) != nil) == (bits & 1 << border.rawValue != 0))
        }
    }

    @Test func callsThatAreLedPastUs() throws {
        let area = try Self.filled()
        #expect(area.hookedWords.isEmpty)
        var expected: [UInt64: UInt64] = [:]
        for (number, call) in CallSites.Call.allCases.enumerated() {
            let site = 0x1000 * UInt64(number + 1)
            area.setReturn(of: call, to: site + 7, word: UInt64(number))
            expected[site] = UInt64(number)
            #expect(area.hookedWords == expected)
        }
        // Once more: the last counts. Bits that belong to no call are ignored.
        area.setReturn(of: .execve, to: 0, word: .max)
        area.set(\.hooked, .max)
        expected[0x3000] = nil
        expected[UInt64(0) &- 7] = .max
        #expect(area.hookedWords == expected)
        area.set(\.hooked, .max << UInt64(FL_SITES))
        #expect(area.hookedWords.isEmpty)
        let state = Self.state(of: area)
        #expect(state.real_start == 0 && state.borders == 0)
    }

    /// What a process has under a number may be any file by the time that it is mapped.
    @Test func anotherFileIsNotTheAreasMemory() throws {
        let area = try Self.filled()
        let number = area.inheritable
        try #require(number >= 0)
        #expect(area.isOpen(in: KernelProcess.ourselves, as: number))
        let other = fl_make_memory("firstlight", area.size)
        try #require(other >= 0)
        defer { close(other) }
        #expect(!area.isOpen(in: KernelProcess.ourselves, as: other))
        #expect(!area.isOpen(in: KernelProcess.ourselves, as: -1))
        area.wasInherited()
        #expect(!area.isOpen(in: KernelProcess.ourselves, as: other))
    }

    @Test func executionsAndGates() throws {
        let area = try Self.filled { $0.isGated = true }
        for value: UInt32 in [0, 1, 2, 3, .max] {
            area.set(\.execution, value)
            #expect(area.isAboutToExecute == (value == 1))
            area.set(\.gate, value)
            #expect(area.isGateWaiting == (value == 2))
        }
        #expect(!area.followExecution())
        #expect(area.value(\.execution) == .max)
        area.set(\.execution, UInt32(FL_EXECUTION_AHEAD))
        #expect(area.followExecution() && area.isExecuting)
        #expect(area.value(\.execution) == UInt32(FL_EXECUTION_FOLLOWED))
        area.forgetExecution()
        #expect(area.value(\.execution) == UInt32(FL_EXECUTION_NONE))
        #expect(!area.isExecuting && !area.isAboutToExecute)
        // Words that the program has written in the meantime are kept.
        area.set(\.execution, UInt32(FL_EXECUTION_AHEAD))
        area.forgetExecution()
        #expect(area.isAboutToExecute)
        area.set(\.gate, UInt32(FL_GATE_WAITING))
        #expect(area.holdGate() && !area.holdGate())
        #expect(area.value(\.gate) == UInt32(FL_GATE_SERVING) && !area.isGateWaiting)
        area.openGate()
        #expect(area.value(\.gate) == UInt32(FL_GATE_PASSED))
        area.silence()
        #expect(area.isFiltered)
    }

    /// More marks than there is room for; the memory behind them is unchanged.
    @Test func marks() throws {
        let area = try Self.filled()
        let request = MarkRequest(name: "x", place: .probe(provider: "a", name: "b"))
        let records = MarkRecord.all(of: [MarkRequest](repeating: request, count: 400))
        #expect(records.count > Int(FL_MOST_MARKS))
        area.fillMarks(records)
        #expect(area[\.ring] == 1)
        #expect(area.copy(at: Int(FL_MARKS) + 1023 * 256, count: 256) == records[1023].bytes)
        #expect(area.read(UInt64.self, at: Int(FL_STACKS)) == 0)
        area.stopMarks()
        #expect(area[\.ring] == 0)
    }

    // MARK: Where the program says that it is

    /// Where our code is, the program writes itself, and may write again.
    @Test(arguments: [.max, .max - 4095] as [UInt64]) func anAddressThatCannotBe(address: UInt64)
        async
    {
        await #expect(processExitsWith: .success) { [address] in
            let area = try #require(AgentMemory(stackBytes: 4096))
            area.set(\.phase, UInt32(FL_PHASE_SETTLED))
            area.set(\.address, address)
            _ = area.isSettled
            _ = (area.range.contains(1), area.code.contains(1))
        }
    }

    @Test(arguments: [.max, .max - 4095] as [UInt64]) func anIslandThatCannotBe(island: UInt64)
        async
    {
        await #expect(processExitsWith: .success) { [island] in
            let area = try #require(AgentMemory(stackBytes: 4096))
            area.set(\.phase, UInt32(FL_PHASE_SETTLED))
            area.set(\.island, island)
            #expect(area.isSettled && area.islandRange == nil)
        }
    }

    /// A child that the program forked can write there, and the memory there is unmapped at the
    /// end.
    @Test func theIslandIsWhereItWasAtFirst() throws {
        let area = try #require(AgentMemory(stackBytes: 4096))
        #expect(area.islandRange == nil)
        area.set(\.island, 0x5555_0000_0000)
        area.set(\.phase, UInt32(FL_PHASE_SETTLED))
        #expect(area.isSettled)
        area.set(\.island, 0x6666_0000_0000)
        #expect(area.isSettled && area.islandRange?.lowerBound == 0x5555_0000_0000)
    }

    /// We never take the place of a handler, and restore none.
    @Test func aSignalsActionThatCannotHaveBeen() throws {
        let area = try #require(AgentMemory(stackBytes: 4096))
        area.set(\.sample_signal, 23)
        for original in [0, 1, 2, .max] as [UInt64] {
            area.set(\.original_handler, original)
            let given = area.signals.first { $0.number == 23 }
            #expect(given?.original == (original == 1 ? 1 : 0))
        }
    }
}
