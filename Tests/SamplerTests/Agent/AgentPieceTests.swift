import CAgent
import CSystem
import Glibc
import ProfileModel
import Synchronization
import System
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// Marks in the area, and the pieces that bring it in and take it away: each in a process of its
/// own, whose thread that is.
@Suite struct AgentPieceTests {
    // MARK: Marks

    @Test func marksBecomeEvents() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle()
            let area = mapped.area
            let signposts = area.makeSignposts(pid: getpid(), since: .now)
            let records = MarkRecord.all(of: [
                MarkRequest(name: "Load", place: .probe(provider: "a", name: "b")),
                MarkRequest(
                    name: String(repeating: "x", count: 128),
                    place: .probe(provider: "a", name: "b")),
            ])
            for number in 0..<6 {
                // push $number; call fl_mark; lea 8(%rsp), %rsp; ret
                let place = Int(FL_TRAMPOLINES) + 16 * number
                let distance = Int32(Int(AgentCode.mark) - (place + 7))
                area.write(
                    [0x6A, UInt8(number), 0xE8]
                        + (0..<4).map { UInt8(truncatingIfNeeded: distance >> (8 * $0)) }
                        + [0x48, 0x8D, 0x64, 0x24, 8, 0xC3], at: place)
            }
            func hit() {
                for number in 0..<6 {
                    mapped.function(
                        at: UInt64(Int(FL_TRAMPOLINES) + 16 * number),
                        as: (@convention(c) () -> Void).self)()
                }
            }
            hit()
            #expect(signposts.poll { _ in nil }.events.isEmpty)
            area.fillMarks(records)
            let before = MonotonicTime.now
            hit()
            let events = signposts.poll { _ in nil }.events
            #expect(events.map(\.kind) == [.event, .begin, .end, .event, .begin, .end])
            #expect(
                events.map(\.label.name)
                    == [String](repeating: "Load", count: 3)
                    + [String](repeating: String(repeating: "x", count: 128), count: 3))
            #expect(events.allSatisfy { $0.label.category == "mark" && $0.label.subsystem == "" })
            #expect(events.allSatisfy { $0.thread == OwnSignposts.thread })
            #expect(events.allSatisfy { $0.time >= before && $0.time <= .now })
            area.stopMarks()
            hit()
            #expect(signposts.poll { _ in nil }.events.isEmpty)
            #expect(signposts.losses == SignpostRing.Losses())
        }
    }

    // MARK: Pieces

    /// Leads this thread to a piece of code, as the recorder does with a stopped one.
    private final class Diversion {
        private let page: UnsafeMutableRawPointer
        private let way: @convention(c) (UnsafeRawPointer, UInt64) -> Void

        init() throws {
            let descriptor = fl_make_memory("pieces", 8192)
            try #require(descriptor >= 0)
            page = try #require(fl_map_memory(descriptor, 8192))
            // lea -128(%rsp), %rsp; lea 0f(%rip), %rax; push %rax; push %rsi; jmp *%rdi; 0: ret
            let code: [UInt8] = [
                0x48, 0x8D, 0x64, 0x24, 0x80, 0x48, 0x8D, 0x05, 4, 0, 0, 0, 0x50, 0x56, 0xFF, 0xE7,
                0xC3,
            ]
            (page + 4096).copyMemory(from: code, byteCount: code.count)
            way = unsafeBitCast(
                page + 4096, to: (@convention(c) (UnsafeRawPointer, UInt64) -> Void).self)
        }

        func run(_ piece: [UInt8]) {
            mprotect(page, 8192, PROT_READ | PROT_WRITE)
            page.copyMemory(from: piece, byteCount: piece.count)
            mprotect(page, 8192, PROT_READ | PROT_EXEC)
            way(page, 0)
        }
    }

    private static func freePlace(_ size: Int) throws -> UInt64 {
        let memory = try #require(
            mmap(nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(memory != MAP_FAILED)
        munmap(memory, size)
        return UInt64(UInt(bitPattern: memory))
    }

    private static func isMapped(_ address: UInt64) -> Bool {
        TargetMemory(pid: getpid()).read(at: address, count: 1).count == 1
    }

    @Test func anAreaComesAndGoes() async {
        await #expect(processExitsWith: .success) {
            let diversion = try Diversion()
            let area = try #require(AgentMemory(stackBytes: 4096))
            let place = try Self.freePlace(area.size)
            var contents = AgentMemory.Contents(
                place: place, recorder: 0, cookie: AgentSignalTests.cookie)
            contents.signal = (AgentSignalTests.signal, 0)
            area.fill(contents)
            #expect(area.open())
            let free = fl_free_descriptor(0)
            diversion.run(
                AgentCode.boot(
                    descriptor: dup(area.inheritable), place: place, size: area.size,
                    isAtEntry: false))
            #expect(area.isSettled && area.address == place)
            #expect(area.range == place..<(place + UInt64(area.size)))
            // The thread has closed it.
            #expect(fl_free_descriptor(0) == free)
            let signal = AgentMemory.Signal(number: AgentSignalTests.signal, original: 1)
            let slots = SharedSlots(area: area, cookie: AgentSignalTests.cookie)
            #expect(
                slots.request(3, stack: AgentSignalTests.stack(), limit: 64, masks: 0) == .ready)
            AgentSignalTests.ask(slots, 3)
            #expect(slots.takeAnswer(3).stack.bytes.count == 64)
            // An action that something else has set is left alone.
            let handler = area.position(Int(AgentCode.sampleHandler))
            diversion.run(
                AgentCode.away(restoring: signal, from: handler + 1, nil))
            #expect(
                slots.request(3, stack: AgentSignalTests.stack(), limit: 64, masks: 0) == .ready)
            AgentSignalTests.ask(slots, 3)
            #expect(slots.takeAnswer(3).stack.bytes.count == 64)
            diversion.run(
                AgentCode.away(restoring: signal, from: handler, area.range))
            #expect(!Self.isMapped(place))
            // Ignored from now on.
            AgentSignalTests.ask(slots, 3)
            raise(AgentSignalTests.signal)
        }
    }

    @Test func anIslandIsMappedWhereItShouldBe() async {
        await #expect(processExitsWith: .success) {
            for isFree in [true, false] {
                let mapped = try MappedAgentMemory()
                let island = isFree ? try Self.freePlace(TrampolineSpace.size) : mapped.address
                mapped.settle { $0.island = island }
                #expect(mapped.area.isSettled)
                #expect(mapped.area.islandRange?.lowerBound == (isFree ? island : nil))
                #expect(mapped.area.makeTrampolineSpaces().count == (isFree ? 2 : 1))
                if isFree {
                    let word = TargetMemory(pid: getpid()).word(at: island)
                    #expect(word == mapped.address + AgentCode.mark)
                }
            }
        }
    }

    /// After any failure the thread goes on as if nothing had happened, and nothing is left.
    @Test func anAreaThatCannotCome() async {
        await #expect(processExitsWith: .success) {
            let diversion = try Diversion()
            let area = try #require(AgentMemory(stackBytes: 4096))
            let taken = try MappedAgentMemory()
            let word = TargetMemory(pid: getpid()).word(at: taken.address)
            let free = fl_free_descriptor(0)
            // The place is taken; there is no such memory; it is of no size.
            for (descriptor, place, size) in [
                (Int32?(dup(area.inheritable)), taken.address, area.size),
                (9999, try Self.freePlace(area.size), area.size),
                (nil, try Self.freePlace(area.size), .max), (nil, 0x1234, 0),
            ] {
                diversion.run(
                    AgentCode.boot(
                        descriptor: descriptor, place: place, size: size, isAtEntry: false))
                #expect(fl_free_descriptor(0) == free)
            }
            #expect(TargetMemory(pid: getpid()).word(at: taken.address) == word)
            #expect(!area.isSettled)
        }
    }

    /// The recorder is notified: it would otherwise wait for ever.
    @Test(arguments: [true, false]) func thatAnAreaCannotComeIsTold(isTaken: Bool) async {
        await #expect(processExitsWith: .success) { [isTaken] in
            let diversion = try Diversion()
            let area = try #require(AgentMemory(stackBytes: 4096))
            let taken = try MappedAgentMemory()
            let place = isTaken ? taken.address : try Self.freePlace(area.size)
            area.fill(
                AgentMemory.Contents(place: place, recorder: 0, cookie: AgentSignalTests.cookie))
            #expect(area.open() && !area.isAbandoned)
            diversion.run(
                AgentCode.boot(
                    descriptor: dup(area.inheritable), place: place, size: area.size,
                    isAtEntry: false))
            #expect(area.isAbandoned == isTaken && area.isSettled == !isTaken)
            // The area that has the place keeps it.
            #expect(!taken.area.isAbandoned)
        }
    }

    /// The recorder never fills it in: the thread gives up, and closes it.
    @Test func anAreaThatNobodyFills() async {
        await #expect(processExitsWith: .success) {
            let diversion = try Diversion()
            let free = fl_free_descriptor(0)
            let size = AgentMemory.size(stackBytes: 4096)
            let place = try Self.freePlace(size)
            diversion.run(
                AgentCode.boot(
                    descriptor: nil, place: place, size: size, isAtEntry: false, recorder: 4711))
            #expect(fl_free_descriptor(0) == free)
            // The area names its recorder; nothing else is there.
            let found = EarlierAgent.all(in: KernelProcess.ourselves)
            #expect(found.map(\.start) == [place] && found.first?.recorder == 4711)
            // The thread that waited there is gone: the next recorder removes the area.
            #expect(found.first?.isInUse == false && found.first?.isQuiet == true)
            #expect(
                TargetMemory(pid: getpid()).int32(at: place + UInt64(FL_STATE))
                    == Int32(FL_PHASE_ABANDONED))
        }
    }
}
