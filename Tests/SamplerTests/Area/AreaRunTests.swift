import Architecture
import CAgent
import CSystem
import Foundation
import Glibc
import ProfileModel
import System
import Testing

@testable import Sampler

/// The area's code, run by our own process: what it notes is what we read.
@Suite struct AreaRunTests {
    /// Each adds its number to a log, and what it was given.
    private static let first: MadeLinker.Initializer = { count, log, _ in note(1, count, log) }
    private static let second: MadeLinker.Initializer = { count, log, _ in note(2, count, log) }
    private static let third: MadeLinker.Initializer = { count, log, _ in note(3, count, log) }

    private static func note(
        _ number: Int32, _ count: Int32, _ log: UnsafeMutablePointer<Int32>?
    ) {
        guard let log, log[0] < 30 else { return }
        log[0] += 1
        log[Int(log[0])] = 10 * count + number
    }

    private static func run(
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

    private static func address(_ function: MadeLinker.Initializer) -> UInt64 {
        unsafeBitCast(function, to: UInt64.self)
    }

    /// With two libraries that the start-up loads.
    private static func started(
        _ change: (inout Area.Contents) -> Void = { _ in }
    ) throws -> (mapped: MappedArea, linker: MadeLinker) {
        let mapped = try MappedArea()
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

    private static func load(_ linker: MadeLinker, into mapped: MappedArea, _ name: String) {
        linker.set(.adds)
        mapped.tellOfChange()
        linker.add(name, array: [second, first])
        linker.set(.consistent)
        mapped.tellOfChange()
    }

    /// Whose code is where is known without the process: as its mappings say, of a file that its
    /// build id names.
    @Test func librariesAreKnownWithoutTheProcess() throws {
        let function = try #require(dlsym(nil, "malloc"))
        var watch = MappingWatch(pid: getpid())
        let refreshed = watch.refreshed(at: .now)
        let address = UInt64(UInt(bitPattern: function))
        let seen = try #require(
            refreshed?.first { $0.start <= address && address < $0.end })
        // The C library's code has the same place in the file as from the library's beginning.
        let base = seen.start - seen.fileOffset

        let mapped = try MappedArea()
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
        let mapped = try MappedArea()
        let before = MonotonicTime.now
        #expect(!mapped.area.isSettled)
        mapped.settle()
        #expect(mapped.area.isSettled)
        #expect(mapped.area.address == mapped.address)
        #expect(mapped.area[\.pid] == UInt32(getpid()))
        let settled = try #require(mapped.area.time(\.settled_ns))
        #expect(settled >= before && settled <= .now)
        #expect(mapped.area[\.settled_cpu_ns] > 0)
        // Nobody waits for it any more.
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
                Area.Load(map: linker.mapAddress(0), initializers: 3, open: nil),
                Area.Load(map: linker.mapAddress(1), initializers: 1, open: nil),
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
                    == Area.Load(
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

    /// The stack of who called: our caller's words lie where the copy has them.
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

    @Test func whatHasNoRoomIsNotNoted() throws {
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
        // Whatever lies behind the tables is as it was.
        #expect(area.read(UInt64.self, at: Int(FL_MARKS)) == 0)
    }

    /// Another C library: its initialisers are left alone.
    @Test func anUnknownLinkersLibrariesAreNotTimed() throws {
        let mapped = try MappedArea()
        let linker = MadeLinker()
        mapped.settle { $0.debug = linker.address }
        linker.add("/lib/a.so", initializer: Self.first, array: [Self.second], isKnown: false)
        linker.set(.consistent)
        mapped.tellOfChange()
        #expect(mapped.area.load(0).initializers == 0)
        #expect((0..<28).allSatisfy { linker.entry($0, of: 0) == 0 })
    }

    // MARK: musl

    /// It tells once, and finds initialisers by the dynamic section.
    @Test func musl() throws {
        let mapped = try MappedArea()
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
        // What is loaded later, too.
        linker.set(.adds)
        mapped.tellOfChange()
        linker.add("/lib/plugin.so", array: [Self.second, Self.first], isKnown: false)
        linker.set(.consistent)
        mapped.tellOfChange()
        #expect(Self.runBySection(linker, 3..<4) == [32, 31])
        #expect(area.counts.opens == Int(FL_FIRST_OPEN) + 1 && area.note(5)?.library == 3)
    }

    /// What it never ran, its own libraries' for one, it finds again when main begins.
    @Test func whatMuslNeverRuns() throws {
        let mapped = try MappedArea()
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

    // MARK: Static programs

    private static let main: @convention(c) () -> Int32 = { 42 }
    private static var mainAddress: UInt64 { unsafeBitCast(main, to: UInt64.self) }

    /// Calls what words lead to, as a static program's start code does.
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
        let mapped = try MappedArea()
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

    /// One word that cannot be written, and all are left alone.
    @Test func wordsThatCannotAllBeLed() throws {
        let functions = [Self.first, Self.second].map(Self.address)
        let memory = MadeMemory(functions.flatMap { bytes(of: $0) })
        let words = [memory.address, memory.address + 8, 0x1000].map {
            StaticInitializers.Word(address: $0, source: $0, function: functions[0])
        }
        let mapped = try MappedArea()
        mapped.settle { contents in
            contents.main = Self.mainAddress
            contents.initializers = StaticInitializers(
                words: [words[0], words[2]], bias: 0, isProtected: false)
        }
        #expect(memory.start.load(as: UInt64.self) == functions[0])
        #expect(mapped.area.counts.libraries == 0 && !mapped.area.hasPendingInitializers)
        #expect(mapped.begin() == 42 && mapped.area.border(.main) != nil)
    }

    /// Nobody tells of a later moment: the gate is where the area has settled.
    @Test func theGateOfAStaticProgram() throws {
        let mapped = try MappedArea()
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

    /// Who comes there while nobody records waits for a bounded time.
    @Test func theGateOpensByItself() throws {
        let (mapped, _) = try Self.started { $0.isGated = true }
        // Who comes to serve it then changes nothing as if nobody ran.
        #expect(!mapped.area.isGateWaiting && !mapped.area.holdGate())
        #expect(mapped.area.value(\.gate) == UInt32(FL_GATE_OPEN))
        let (start, end) = (mapped.area.time(\.gate_ns), mapped.area.time(\.gate_end_ns))
        #expect(try #require(start) <= #require(end))
    }

    @Test func patches() throws {
        let page = try #require(fl_map_memory(try Self.page(), 8192))
        defer { munmap(page, 8192) }
        page.initializeMemory(as: UInt8.self, repeating: 0x90, count: 8192)
        let start = UInt64(UInt(bitPattern: page))
        let mapped = try MappedArea()
        mapped.settle { contents in
            contents.patches = [
                // Across two pages, too.
                Area.Patch(address: start + 4092, word: 0x1122_3344_5566_7788),
                Area.Patch(
                    address: start, word: 0x9090_90C3_C3C3_C3C3, target: AreaCode.debugState),
            ]
        }
        #expect(page.loadUnaligned(fromByteOffset: 4092, as: UInt64.self) == 0x1122_3344_5566_7788)
        let word = page.load(as: UInt64.self)
        #expect(word & 0xFF == 0xE9 && word >> 40 == 0x90_9090)
        let distance = Int32(truncatingIfNeeded: word >> 8)
        #expect(
            start &+ 5 &+ UInt64(bitPattern: Int64(distance))
                == mapped.address + AreaCode.debugState)
    }

    /// A static program's calls are led past us as the area settles, if it does.
    @Test func callsThatAreLedPastUsFromTheBeginning() throws {
        let page = try #require(fl_map_memory(try Self.page(), 8192))
        defer { munmap(page, 8192) }
        let start = UInt64(UInt(bitPattern: page))
        let mapped = try MappedArea()
        let calls: [(CallSites.Call, UInt64)] = [
            (.sigaction, start + 64), (.mlockall, start + 4092), (.execve, 0x1000),
        ]
        mapped.settle { contents in
            contents.patches = calls.map { call, site in
                Area.Patch(
                    address: site, word: 0x0505_0F00_0000_0DB8,
                    target: AreaCode.standIn(for: call), call: call)
            }
            #expect(mapped.area.hookedWords.isEmpty)
        }
        // What could not be written leads nowhere.
        let written = calls.prefix(2).map { ($0.1, 0x0505_0F00_0000_0DB8 as UInt64) }
        #expect(mapped.area.hookedWords == Dictionary(uniqueKeysWithValues: written))
        for (call, site) in calls.prefix(2) {
            let word = page.loadUnaligned(fromByteOffset: Int(site - start), as: UInt64.self)
            let jump = JumpPatch.word(
                from: site, to: mapped.address + AreaCode.standIn(for: call))
            #expect(word & 0xFF_FFFF_FFFF == jump)
        }
        #expect(mapped.area[\.after].0 == start + 71)
    }

    /// Where memory cannot be written past its protection, code that others share a page with stays
    /// as it is, executable. What our bootstrap took the place of comes back in any case.
    @Test func codeKeepsItsProtection() async {
        await #expect(processExitsWith: .success) {
            let page = try #require(fl_map_memory(try Self.page(), 8192))
            try #require(mprotect(page, 8192, PROT_READ | PROT_EXEC) == 0)
            let start = UInt64(UInt(bitPattern: page))
            let mapped = try MappedArea()
            // Nothing can be opened.
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            try #require(setrlimit(__rlimit_resource_t(7), &limit) == 0)
            mapped.settle { contents in
                contents.patches = [
                    Area.Patch(address: start, word: .max),
                    Area.Patch(
                        address: start + 8, word: 1, target: AreaCode.standIn(for: .sigaction),
                        call: .sigaction),
                    Area.Patch.restoring(7, at: start + 4096),
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

    /// An auditing library's loading is told before the program's own libraries are mapped.
    @Test func anAuditorsLoadingIsNotTheStartUp() throws {
        let mapped = try MappedArea()
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

    // MARK: Forked children

    /// It runs the rest of the initialisers beside its parent, and finds the libraries' own entries
    /// when that is through already.
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
            let mapped = try MappedArea()
            let linker = MadeLinker()
            mapped.settle {
                $0.debug = linker.address
                $0.isGated = true
            }
            let offset = MemoryLayout<fl_state>.offset(of: \.gate_ns) ?? 0
            Self.gate = UnsafePointer(
                (mapped.program + Int(FL_STATE) + offset).assumingMemoryBound(to: Int64.self))
            signal(SIGUSR1) { _ in
                guard let gate = AreaRunTests.gate else { return }
                if gate[0] != 0, gate[1] == 0 { AreaRunTests.ranAtGate = true }
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

    private static func page() throws -> Int32 {
        let descriptor = fl_make_memory("page", 8192)
        try #require(descriptor >= 0)
        return descriptor
    }
}
