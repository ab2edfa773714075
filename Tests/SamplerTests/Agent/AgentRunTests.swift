import Architecture
import CAgent
import CSystem
import Foundation
import Glibc
import ProfileModel
import System
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// The area's code, run by our own process: the recorder reads the same notes that the code writes.
@Suite struct AgentRunTests {
    /// Each logs its number and its argument.
    static let first: MadeLinker.Initializer = { count, log, _ in note(1, count, log) }
    static let second: MadeLinker.Initializer = { count, log, _ in note(2, count, log) }
    static let third: MadeLinker.Initializer = { count, log, _ in note(3, count, log) }

    private static func note(
        _ number: Int32, _ count: Int32, _ log: UnsafeMutablePointer<Int32>?
    ) {
        guard let log, log[0] < 30 else { return }
        log[0] += 1
        log[Int(log[0])] = 10 * count + number
    }

    static func run(
        _ linker: MadeLinker, _ libraries: Range<Int>? = nil
    ) -> [Int32] {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 32) { log in
            log.initialize(repeating: 0)
            guard let start = log.baseAddress else { return [] }
            for index in libraries ?? 0..<linker.count {
                linker.runInitializers(of: index, log: start)
            }
            return Array(log[1..<Int(log[0] + 1)])
        }
    }

    static func address(_ function: MadeLinker.Initializer) -> UInt64 {
        unsafeBitCast(function, to: UInt64.self)
    }

    /// With two libraries that the start-up loads.
    static func started(
        _ change: (inout AgentMemory.Contents) -> Void = { _ in }
    ) throws -> (mapped: MappedAgentMemory, linker: MadeLinker) {
        let mapped = try MappedAgentMemory()
        let linker = MadeLinker()
        mapped.settle { contents in
            contents.debug = linker.address
            change(&contents)
        }
        linker.set(.adds)
        mapped.tellOfChange()
        #expect(mapped.area.time(\.mapping_ns) != nil)
        #expect(mapped.area.border(.relocated) == nil)
        linker.add("", initializer: first, array: [second, third])
        linker.add("/lib/b.so", bias: 0x7000_0000_0000, array: [third])
        linker.set(.consistent)
        mapped.tellOfChange()
        return (mapped, linker)
    }

    static func load(_ linker: MadeLinker, into mapped: MappedAgentMemory, _ name: String) {
        linker.set(.adds)
        mapped.tellOfChange()
        linker.add(name, array: [second, first])
        linker.set(.consistent)
        mapped.tellOfChange()
    }

    /// Which library has which code is known without the process: from its mappings, and the file
    /// with the same build id.
    @Test func librariesAreKnownWithoutTheProcess() throws {
        let function = try #require(dlsym(nil, "malloc"))
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let refreshed = watch.refreshed(at: .now)
        let address = UInt64(UInt(bitPattern: function))
        let seen = try #require(
            refreshed?.first { $0.start <= address && address < $0.end })
        // The C library's code has the same place in the file as from the library's beginning.
        let base = seen.start - seen.fileOffset

        let mapped = try MappedAgentMemory()
        let linker = MadeLinker()
        // No file: where nothing is mapped, and where something else is.
        let text = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 16)
        defer { text.deallocate() }
        text.initializeMemory(as: UInt8.self, repeating: 0x7F, count: 4096)
        mapped.settle { $0.debug = linker.address }
        linker.set(.adds)
        mapped.tellOfChange()
        linker.add("", bias: base)
        linker.add("/lib/c.so", bias: base)
        linker.add("/lib/nowhere.so", bias: 0x7000_0000_0000)
        linker.add("/lib/text.so", bias: UInt64(UInt(bitPattern: text)))
        linker.add("linux-vdso.so.1", bias: base)
        linker.add(seen.path, bias: base)
        linker.set(.consistent)
        mapped.tellOfChange()
        let code = mapped.area.notedLibraries.flatMap(\.code)
        #expect(code.map(\.path) == ["/lib/c.so", seen.path])
        #expect(mapped.area.unnotedLibraries == 0)
        mapped.area.set(\.libraries, UInt32(FL_MOST_FILES + 3))
        #expect(mapped.area.unnotedLibraries == 3)
        for mapping in code {
            #expect(mapping.start..<mapping.end == seen.start..<seen.end)
            #expect(mapping.fileOffset == seen.fileOffset)
            #expect(!mapping.buildID.isEmpty)
        }
    }

    @Test func settling() throws {
        let mapped = try MappedAgentMemory()
        let before = MonotonicTime.now
        #expect(!mapped.area.isSettled)
        mapped.settle()
        #expect(mapped.area.isSettled)
        #expect(mapped.area.address == mapped.address)
        #expect(mapped.area[\.pid] == UInt32(getpid()))
        let settled = try #require(mapped.area.time(\.settled_ns))
        #expect(settled >= before && settled <= .now)
        #expect(mapped.area[\.settled_cpu_ns] > 0)
        // No thread waits for it any more.
        #expect(!mapped.area.open())
        #expect(!mapped.area.isDisplaced && !mapped.area.isFiltered)
    }

    /// At two addresses at once: the code finds everything from where it is.
    @Test func eachAreaIsItsOwn() throws {
        let (one, oneLinker) = try Self.started()
        let (other, otherLinker) = try Self.started()
        #expect(one.address != other.address)
        #expect(Self.run(otherLinker) == [31, 32, 33, 33])
        #expect(one.area.counts.records == 0 && other.area.counts.records == 4)
        #expect(Self.run(oneLinker) == [31, 32, 33, 33])
        #expect(one.area.counts.records == 4 && other.area.counts.records == 4)
    }

    @Test func theStartUp() throws {
        let before = MonotonicTime.now
        let (mapped, linker) = try Self.started()
        let area = mapped.area
        let border = try #require(area.border(.relocated))
        #expect(border.time >= before && border.time <= .now)
        #expect(border.tid == OwnSignposts.thread && border.cpu > 0)
        #expect(border.stack.stack.start == border.stack.registers.stackPointer)
        #expect((1...16384).contains(border.stack.stack.bytes.count))
        #expect((border.counters.minorFaults ?? 0) > 0)
        #expect(area.border(.main) == nil)
        #expect(area.counts.libraries == 2 && area.counts.records == 0)
        #expect(area.counts.opens == Int(FL_FIRST_OPEN))
        #expect(
            (0..<2).map(area.load) == [
                AgentMemory.Load(map: linker.mapAddress(0), initializers: 3, open: nil),
                AgentMemory.Load(map: linker.mapAddress(1), initializers: 1, open: nil),
            ])
        #expect(area[\.known] == 2)
        #expect(!area.isGateWaiting)
    }

    @Test func initializersAreTimedInTheirOrder() throws {
        let (mapped, linker) = try Self.started()
        let area = mapped.area
        let isLed = linker.ownEntries(of: 0).contains(linker.entry(12, of: 0))
        #expect(!isLed)
        let before = MonotonicTime.now
        #expect(Self.run(linker) == [31, 32, 33, 33])
        let after = MonotonicTime.now
        #expect(area.counts.records == 4)
        let notes = try (0..<4).map { try #require(area.note($0)) }
        #expect(
            notes.map(\.function)
                == [Self.first, Self.second, Self.third, Self.third].map(Self.address))
        #expect(notes.map(\.library) == [0, 0, 0, 1])
        #expect(notes.allSatisfy { $0.tid == OwnSignposts.thread })
        var time = before
        for note in notes {
            let end = try #require(note.end)
            #expect(note.start >= time && end >= note.start && end <= after)
            #expect(note.cpuAtEnd >= note.cpuAtStart && note.cpuAtStart > 0)
            time = end
        }
        #expect(area.note(4) == nil)
        // The linker has the library's own entries again.
        for (index, tags) in [[12, 25, 27], [25, 27]].enumerated() {
            for tag in tags {
                #expect(linker.ownEntries(of: index).contains(linker.entry(tag, of: index)))
            }
        }
        #expect(Self.run(linker) == [31, 32, 33, 33])
        #expect(area.counts.records == 4)
    }

    @Test func callsThatLoad() throws {
        let (mapped, linker) = try Self.started()
        let area = mapped.area
        for number in 0..<3 {
            let before = MonotonicTime.now
            Self.load(linker, into: mapped, "/lib/plugin\(number).so")
            #expect(area.counts.opens == Int(FL_FIRST_OPEN) + number + 1)
            #expect(area.counts.libraries == 3 + number)
            #expect(
                area.load(2 + number)
                    == AgentMemory.Load(
                        map: linker.mapAddress(2 + number), initializers: 2,
                        open: Int(FL_FIRST_OPEN) + number))
            let open = area.open(Int(FL_FIRST_OPEN) + number)
            #expect(open.time >= before && open.time <= .now && open.tid == OwnSignposts.thread)
            #expect(!open.stack.stack.bytes.isEmpty)
            #expect(open.stack.stack.bytes.count <= Int(FL_OPEN_STACK))
        }
        #expect(Self.run(linker, 2..<5) == [32, 31, 32, 31, 32, 31])
        #expect((0..<6).map { area.note($0)?.library } == [2, 2, 3, 3, 4, 4])
        // Nothing is loaded where something is unloaded.
        linker.set(.removes)
        mapped.tellOfChange()
        linker.set(.consistent)
        mapped.tellOfChange()
        #expect(area.counts.libraries == 5)
        #expect(area.counts.opens == Int(FL_FIRST_OPEN) + 3)
    }

    /// The stack is the caller's: the copy has our caller's words.
    @Test func theStackIsOfWhoTold() throws {
        let (mapped, linker) = try Self.started()
        let witness = UInt64.random(in: 1...(.max))
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2) { words in
            words.initialize(repeating: witness)
            Self.load(linker, into: mapped, "/lib/plugin.so")
            #expect(words[0] == witness)
        }
        let stack = mapped.area.open(Int(FL_FIRST_OPEN)).stack.stack.bytes
        let hits = stride(from: 0, to: stack.count - 15, by: 8).filter {
            stack.littleEndianWord(at: $0) == witness
                && stack.littleEndianWord(at: $0 + 8) == witness
        }
        #expect(!hits.isEmpty)
    }

    @Test func initialisersWithoutRoomAreNotNoted() throws {
        let (mapped, linker) = try Self.started()
        let area = mapped.area
        area.set(\.records, UInt32(FL_MOST_RECORDS))
        #expect(Self.run(linker) == [31, 32, 33, 33])
        #expect(area.counts.records == Int(FL_MOST_RECORDS))
        area.set(\.libraries, UInt32(FL_MOST_LIBRARIES))
        Self.load(linker, into: mapped, "/lib/plugin.so")
        #expect(linker.ownEntries(of: 2).contains(linker.entry(25, of: 2)))
        area.set(\.opens, UInt32(FL_MOST_OPENS))
        Self.load(linker, into: mapped, "/lib/other.so")
        #expect(area.counts.opens == Int(FL_MOST_OPENS))
        #expect(Self.run(linker, 2..<4) == [32, 31, 32, 31])
        // The memory behind the tables is unchanged.
        #expect(area.read(UInt64.self, at: Int(FL_MARKS)) == 0)
    }

    /// Another C library: its initialisers are left alone.
    @Test func anUnknownLinkersLibrariesAreNotTimed() throws {
        let mapped = try MappedAgentMemory()
        let linker = MadeLinker()
        mapped.settle { $0.debug = linker.address }
        linker.add("/lib/a.so", initializer: Self.first, array: [Self.second], isKnown: false)
        linker.set(.consistent)
        mapped.tellOfChange()
        #expect(mapped.area.load(0).initializers == 0)
        #expect((0..<28).allSatisfy { linker.entry($0, of: 0) == 0 })
    }

    // MARK: musl

    /// musl's linker notifies once, and finds initialisers by the dynamic section.
    @Test func musl() throws {
        let mapped = try MappedAgentMemory()
        let area = mapped.area
        let linker = MadeLinker()
        mapped.settle { contents in
            contents.debug = linker.address
            contents.isMusl = true
        }
        linker.add(
            "/program", initializer: Self.first, array: [Self.second, Self.third], isKnown: false)
        linker.add("/lib/b.so", bias: 0x7000_0000_0000, array: [Self.third], isKnown: false)
        linker.add("/lib/none.so", isKnown: false)
        let own = (0..<3).map(linker.section)
        linker.set(.consistent)
        mapped.tellOfChange()
        #expect(area.border(.relocated) != nil && area.time(\.mapping_ns) == nil)
        #expect((0..<2).allSatisfy { linker.section(of: $0) != own[$0] })
        #expect(linker.section(of: 2) == own[2] && area.hasPendingInitializers)
        // Nothing is written where glibc's has its pointers.
        #expect((0..<28).allSatisfy { linker.entry($0, of: 0) == 0 })
        #expect(Self.runBySection(linker, 0..<3) == [31, 32, 33, 33])
        #expect((0..<3).map(linker.section) == own && !area.hasPendingInitializers)
        let notes = try (0..<4).map { try #require(area.note($0)) }
        #expect(notes.map(\.library) == [0, 0, 0, 1] && notes.allSatisfy { $0.end != nil })
        #expect(Self.runBySection(linker, 0..<3) == [31, 32, 33, 33])
        #expect(area.counts.records == 4)
        // Libraries that are loaded later, too.
        linker.set(.adds)
        mapped.tellOfChange()
        linker.add("/lib/plugin.so", array: [Self.second, Self.first], isKnown: false)
        linker.set(.consistent)
        mapped.tellOfChange()
        #expect(Self.runBySection(linker, 3..<4) == [32, 31])
        #expect(area.counts.opens == Int(FL_FIRST_OPEN) + 1 && area.note(5)?.library == 3)
    }

    /// Initialisers that musl never ran, its own libraries' for example, are found again when main
    /// begins.
    @Test func initialisersThatMuslNeverRuns() throws {
        let mapped = try MappedAgentMemory()
        let linker = MadeLinker()
        mapped.settle { contents in
            contents.debug = linker.address
            contents.isMusl = true
            contents.main = Self.mainAddress
        }
        linker.add("/program", array: [Self.first], isKnown: false)
        let own = linker.section(of: 0)
        linker.set(.consistent)
        mapped.tellOfChange()
        #expect(linker.section(of: 0) != own)
        #expect(mapped.begin() == 42)
        #expect(linker.section(of: 0) == own && !mapped.area.hasPendingInitializers)
    }

    private static func runBySection(_ linker: MadeLinker, _ libraries: Range<Int>) -> [Int32] {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 32) { log in
            log.initialize(repeating: 0)
            guard let start = log.baseAddress else { return [] }
            for index in libraries { linker.runInitializersBySection(of: index, log: start) }
            return Array(log[1..<Int(log[0] + 1)])
        }
    }

    // MARK: Forked children

    /// The child runs the rest of the initialisers beside its parent, and finds the libraries' own
    /// entries when the parent has finished them already.
    @Test func aChildThatIsLate() async {
        await #expect(processExitsWith: .success) {
            let (mapped, linker) = try Self.started()
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            // Swift hides it, for most cannot be done in such a child.
            let fork = unsafeBitCast(
                try #require(dlsym(nil, "fork")), to: (@convention(c) () -> Int32).self)
            let child = fork()
            if child == 0 {
                close(ends[1])
                var byte: UInt8 = 0
                guard read(ends[0], &byte, 1) == 0, Self.run(linker) == [31, 32, 33, 33] else {
                    _exit(1)
                }
                let isBack =
                    linker.ownEntries(of: 0).contains(linker.entry(12, of: 0))
                    && linker.ownEntries(of: 0).contains(linker.entry(25, of: 0))
                    && linker.ownEntries(of: 1).contains(linker.entry(27, of: 1))
                _exit(isBack ? 0 : 2)
            }
            #expect(mapped.area.hasPendingInitializers)
            #expect(Self.run(linker) == [31, 32, 33, 33])
            close(ends[1])
            var status: Int32 = -1
            #expect(waitpid(child, &status, 0) == child && status == 0)
            #expect(!mapped.area.hasPendingInitializers)
            #expect(mapped.area.counts.records == 4)
        }
    }

    /// `gate_ns` and `gate_end_ns`, for the handler.
    nonisolated(unsafe) private static var gate: UnsafePointer<Int64>?
    nonisolated(unsafe) private static var ranAtGate = false

    /// Such a handler could fork, and its child come back into our code.
    @Test func noHandlerRunsInOurCode() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            let linker = MadeLinker()
            mapped.settle {
                $0.debug = linker.address
                $0.isGated = true
            }
            let offset = MemoryLayout<fl_state>.offset(of: \.gate_ns) ?? 0
            Self.gate = UnsafePointer(
                (mapped.program + Int(FL_STATE) + offset).assumingMemoryBound(to: Int64.self))
            signal(SIGUSR1) { _ in
                guard let gate = AgentRunTests.gate else { return }
                if gate[0] != 0, gate[1] == 0 { AgentRunTests.ranAtGate = true }
            }
            // Threads of pools block everything.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            let here = pthread_self()
            let area = mapped.area
            nonisolated(unsafe) let watched = area
            let other = Thread {
                while !watched.isGateWaiting { sched_yield() }
                pthread_kill(here, SIGUSR1)
            }
            other.start()
            linker.set(.adds)
            mapped.tellOfChange()
            linker.set(.consistent)
            linker.add("")
            mapped.tellOfChange()
            #expect(area.time(\.gate_end_ns) != nil)
            #expect(!Self.ranAtGate)
            // They are as they were.
            var mask = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &mask)
            #expect(sigismember(&mask, SIGUSR1) == 0 && sigismember(&mask, SIGURG) == 0)
        }
    }

    static func page() throws -> Int32 {
        let descriptor = fl_make_memory("page", 8192)
        try #require(descriptor >= 0)
        return descriptor
    }
}
