import Architecture
import CAgent
import CSystem
import Foundation
import Glibc
import ProcessIO
import ProfileModel
import Testing

@testable import Agent
@testable import Images
@testable import Sampler

/// Which of a program's code and words lead to our code, and which past it; programs without a
/// dynamic linker.
extension AgentRunTests {
    private static let main: @convention(c) () -> Int32 = { 42 }
    static var mainAddress: UInt64 { unsafeBitCast(main, to: UInt64.self) }

    /// Calls the functions that the words point to, as a static program's start code does.
    private static func call(_ words: [UInt64]) -> [Int32] {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 32) { log in
            log.initialize(repeating: 0)
            for word in words {
                guard let code = UnsafeRawPointer(bitPattern: UInt(word)) else { continue }
                unsafeBitCast(code, to: MadeLinker.Initializer.self)(3, log.baseAddress, nil)
            }
            return Array(log[1..<Int(log[0] + 1)])
        }
    }

    /// Those of a program that relocates itself, too: it makes its words from other numbers.
    @Test(arguments: [0, 0x7000] as [UInt64]) func aStaticProgramsWords(bias: UInt64) throws {
        let functions = [Self.first, Self.second, Self.third, Self.second].map(Self.address)
        let sources = MadeMemory(functions.flatMap { bytes(of: $0 &- bias) })
        let relocated = MadeMemory(functions.flatMap { bytes(of: $0) })
        func word(_ number: Int, in memory: MadeMemory) -> UInt64 {
            memory.start.load(fromByteOffset: 8 * number, as: UInt64.self)
        }
        let words = functions.indices.map { index in
            let place = (bias == 0 ? sources : relocated).address + UInt64(8 * index)
            return StaticInitializers.Word(
                address: place, source: sources.address + UInt64(8 * index),
                function: functions[index])
        }
        let mapped = try MappedAgentMemory()
        let area = mapped.area
        mapped.settle { contents in
            contents.main = Self.mainAddress
            contents.initializers = StaticInitializers(words: words, bias: bias, isProtected: false)
        }
        let led = functions.indices.map { word($0, in: sources) &+ bias }
        #expect(led.allSatisfy(area.code.contains) && Set(led).count == 4)
        #expect(area.hasPendingInitializers)
        if bias != 0 {
            for (index, thunk) in led.enumerated() {
                relocated.start.storeBytes(of: thunk, toByteOffset: 8 * index, as: UInt64.self)
            }
        }
        // In any order, and more than once.
        #expect(Self.call(led) == [31, 32, 33, 32])
        #expect(Self.call([led[2], led[0]]) == [33, 31])
        #expect(area.counts.records == 6 && area.note(5)?.end == nil)
        #expect(mapped.begin() == 42)
        let notes = try (0..<6).map { try #require(area.note($0)) }
        #expect(notes.map(\.function) == [0, 1, 2, 1, 2, 0].map { functions[$0] })
        for (note, next) in zip(notes, notes.dropFirst()) {
            #expect(note.end == next.start && note.cpuAtEnd == next.cpuAtStart)
        }
        let border = try #require(area.border(.main))
        #expect(notes[5].end == border.time && notes[5].cpuAtEnd == border.cpu)
        #expect(functions.indices.map { word($0, in: sources) &+ bias } == functions)
        #expect(words.map(\.address).map { MadeImage.memory.word(at: $0) } == functions)
        #expect(!area.hasPendingInitializers)
    }

    /// If one word cannot be written, none is changed.
    @Test func wordsThatCannotAllBeLed() throws {
        let functions = [Self.first, Self.second].map(Self.address)
        let memory = MadeMemory(functions.flatMap { bytes(of: $0) })
        let words = [memory.address, memory.address + 8, 0x1000].map {
            StaticInitializers.Word(address: $0, source: $0, function: functions[0])
        }
        let mapped = try MappedAgentMemory()
        mapped.settle { contents in
            contents.main = Self.mainAddress
            contents.initializers = StaticInitializers(
                words: [words[0], words[2]], bias: 0, isProtected: false)
        }
        #expect(memory.start.load(as: UInt64.self) == functions[0])
        #expect(mapped.area.counts.libraries == 0 && !mapped.area.hasPendingInitializers)
        #expect(mapped.begin() == 42 && mapped.area.border(.main) != nil)
    }

    /// No later moment is reported: the gate is where the area has settled.
    @Test func theGateOfAStaticProgram() throws {
        let mapped = try MappedAgentMemory()
        mapped.settle { contents in
            contents.isGated = true
            contents.gatesEntry = true
        }
        let settled = try #require(mapped.area.time(\.settled_ns))
        #expect(try #require(mapped.area.time(\.gate_ns)) >= settled)
        #expect(mapped.area.time(\.gate_end_ns) != nil && !mapped.area.isGateWaiting)
    }

    /// A child that it forked, and a program that permits us no calls.
    @Test(arguments: [false, true]) func othersAreLeftAlone(isFiltered: Bool) throws {
        let (mapped, linker) = try Self.started()
        if isFiltered { mapped.area.silence() } else { mapped.setProcess(1) }
        #expect(Self.run(linker) == [31, 32, 33, 33])
        #expect((0..<8).allSatisfy { mapped.area.note($0) == nil })
        Self.load(linker, into: mapped, "/lib/plugin.so")
        #expect(mapped.area.counts.libraries == 2)
        #expect(mapped.area.counts.opens == Int(FL_FIRST_OPEN))
    }

    /// A thread that reaches the gate without a recorder waits for a bounded time.
    @Test func theGateOpensByItself() throws {
        let (mapped, _) = try Self.started { $0.isGated = true }
        // A recorder that comes later changes nothing, as if no thread had waited.
        #expect(!mapped.area.isGateWaiting && !mapped.area.holdGate())
        #expect(mapped.area.value(\.gate) == UInt32(FL_GATE_OPEN))
        let (start, end) = (mapped.area.time(\.gate_ns), mapped.area.time(\.gate_end_ns))
        #expect(try #require(start) <= #require(end))
    }

    /// Without the changes of the program's code nothing of the launch would be noted.
    @Test func aRecorderThatLivesHasMoreTimeToChangeTheCode() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            nonisolated(unsafe) let area = mapped.area
            nonisolated(unsafe) var wasHeld = false
            let thread = OwnSignposts.thread
            let naps = AgentSignalTests.naps() + 600
            let recorder = Thread {
                while !area.isGateWaiting { sched_yield() }
                let waiting = KernelThread(process: getpid(), tid: thread)
                while area.isGateWaiting, waiting.status().map({ $0.voluntary < naps }) ?? true {}
                wasHeld = area.holdGate()
                area.set(\.unwritten, UInt32(FL_PATCHES_WRITTEN))
                area.openGate()
            }
            mapped.settle {
                $0.recorder = getppid()
            } prepare: {
                $0.set(\.unwritten, UInt32(FL_PATCHES_WAIT))
                recorder.start()
            }
            #expect(wasHeld && !area.lacksPatches)
        }
    }

    /// Nothing leads to our code before the program's code is changed.
    @Test func aLaunchIsWatchedFromTheChangeOfItsCodeOn() throws {
        let mapped = try MappedAgentMemory()
        var borders = ReportedBorders()
        var begins: [Bool] = []
        func look() { begins.append(borders.beginWatch(by: mapped.area)) }
        look()
        mapped.settle()
        for state in [FL_PATCHES_WAIT, FL_PATCHES_REFUSED, FL_PATCHES_WRITTEN] {
            mapped.area.set(\.unwritten, UInt32(state))
            look()
        }
        look()
        #expect(begins == [false, false, false, true, false])
    }

    @Test func patches() throws {
        let page = try #require(fl_map_memory(try Self.page(), 8192))
        defer { munmap(page, 8192) }
        page.initializeMemory(as: UInt8.self, repeating: 0x90, count: 8192)
        let start = UInt64(UInt(bitPattern: page))
        let mapped = try MappedAgentMemory()
        mapped.settle { contents in
            contents.patches = [
                // Across two pages, too.
                AgentMemory.Patch(address: start + 4092, word: 0x1122_3344_5566_7788),
                AgentMemory.Patch(
                    address: start, word: 0x9090_90C3_C3C3_C3C3, target: AgentCode.debugState),
            ]
        }
        #expect(page.loadUnaligned(fromByteOffset: 4092, as: UInt64.self) == 0x1122_3344_5566_7788)
        let word = page.load(as: UInt64.self)
        #expect(word & 0xFF == 0xE9 && word >> 40 == 0x90_9090)
        let distance = Int32(truncatingIfNeeded: word >> 8)
        #expect(
            start &+ 5 &+ UInt64(bitPattern: Int64(distance))
                == mapped.address + AgentCode.debugState)
    }

    /// A static program's calls are led past us as the area settles, if it does.
    @Test func callsThatAreLedPastUsFromTheBeginning() throws {
        let page = try #require(fl_map_memory(try Self.page(), 8192))
        defer { munmap(page, 8192) }
        let start = UInt64(UInt(bitPattern: page))
        let mapped = try MappedAgentMemory()
        let calls: [(CallSites.Call, UInt64)] = [
            (.sigaction, start + 64), (.mlockall, start + 4092), (.execve, 0x1000),
        ]
        mapped.settle { contents in
            contents.patches = calls.map { call, site in
                AgentMemory.Patch(
                    address: site, word: 0x0505_0F00_0000_0DB8,
                    target: AgentCode.standIn(for: call), call: call)
            }
            #expect(mapped.area.hookedWords.isEmpty)
        }
        // Calls that could not be patched lead nowhere.
        let written = calls.prefix(2).map { ($0.1, 0x0505_0F00_0000_0DB8 as UInt64) }
        #expect(mapped.area.hookedWords == Dictionary(uniqueKeysWithValues: written))
        for (call, site) in calls.prefix(2) {
            let word = page.loadUnaligned(fromByteOffset: Int(site - start), as: UInt64.self)
            let jump = JumpPatch.word(
                from: site, to: mapped.address + AgentCode.standIn(for: call))
            #expect(word & 0xFF_FFFF_FFFF == jump)
        }
        #expect(mapped.area[\.after].0 == start + 71)
    }

    /// Where memory cannot be written past its protection, code that shares a page with other code
    /// stays unchanged and executable. The code that our bootstrap replaced is restored in any
    /// case.
    @Test func codeKeepsItsProtection() async {
        await #expect(processExitsWith: .success) {
            let page = try #require(fl_map_memory(try Self.page(), 8192))
            try #require(mprotect(page, 8192, PROT_READ | PROT_EXEC) == 0)
            let start = UInt64(UInt(bitPattern: page))
            let mapped = try MappedAgentMemory()
            // Nothing can be opened.
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            try #require(setrlimit(__rlimit_resource_t(7), &limit) == 0)
            mapped.settle { contents in
                contents.patches = [
                    AgentMemory.Patch(address: start, word: .max),
                    AgentMemory.Patch(
                        address: start + 8, word: 1, target: AgentCode.standIn(for: .sigaction),
                        call: .sigaction),
                    AgentMemory.Patch.restoring(7, at: start + 4096),
                ]
            }
            #expect(page.load(as: UInt64.self) == 0)
            #expect(page.load(fromByteOffset: 8, as: UInt64.self) == 0)
            #expect(page.load(fromByteOffset: 4096, as: UInt64.self) == 7)
            #expect(mapped.area.isSettled && mapped.area.hookedWords.isEmpty)
            #expect(!mapped.area.seesActions)
            // Executable still: `ret`.
            #expect(mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE) == 0)
        }
    }

    /// The linker reports an auditing library's loading before it maps the program's own libraries.
    @Test func anAuditorsLoadingIsNotTheStartUp() throws {
        let mapped = try MappedAgentMemory()
        let linker = MadeLinker()
        mapped.settle { contents in
            contents.debug = linker.address
            contents.sites = .unknown
        }
        linker.add("", array: [Self.first])
        for _ in 0..<3 {
            linker.set(.consistent)
            mapped.tellOfChange()
        }
        #expect(mapped.area.border(.relocated) == nil && mapped.area.counts.libraries == 0)
        #expect(mapped.area.seesActions)
        linker.set(.adds)
        mapped.tellOfChange()
        linker.add("/lib/b.so", array: [Self.second])
        linker.set(.consistent)
        mapped.tellOfChange()
        #expect(mapped.area.border(.relocated) != nil && mapped.area.counts.libraries == 2)
        // Its calls were not found.
        #expect(!mapped.area.seesActions)
        #expect(Self.run(linker) == [31, 32])
    }
}
