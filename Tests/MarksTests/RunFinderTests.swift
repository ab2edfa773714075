import Architecture
import ProfileModel
import Testing

@testable import Marks

/// Where there is room for a jump, and where there is none.
@Suite struct RunFinderTests {
    private let disassembler: Disassembler
    private static let start: UInt64 = 0x40_1000

    init() throws { disassembler = try #require(Disassembler()) }

    /// - Parameters:
    ///   - count: how many of the bytes are the function's.
    ///   - border: where something else begins, counted from the function's start.
    private func finder(
        _ bytes: [UInt8], count: Int? = nil, border: Int = 1000, targets: [UInt64] = [],
        borders: [Int] = []
    ) -> RunFinder {
        let size = count ?? bytes.count
        let block = CodeBlock(
            Self.start..<(Self.start + UInt64(size)), code: bytes,
            border: Self.start + UInt64(border), disassembler)
        return RunFinder(
            block: block, targets: (targets + block.destinations).sorted(),
            borders: borders.map { Self.start + UInt64($0) })
    }

    private func at(_ offset: Int) -> UInt64 { Self.start + UInt64(offset) }

    /// push %rbp; mov %rsp, %rbp; sub $16, %rsp; leave; ret
    private let ordinary: [UInt8] = [0x55, 0x48, 0x89, 0xE5, 0x48, 0x83, 0xEC, 0x10, 0xC9, 0xC3]

    @Test func anEntryTakesWholeInstructions() throws {
        let run = try finder(ordinary).run(noting: 7, at: at(0), isEntry: true).get()
        #expect(run.start == at(0) && run.end == at(8))
        #expect(run.inside == at(1)..<at(5))
        #expect(run.hooks == [.init(index: 0, record: 7)])
    }

    @Test func aReturnTakesWhatIsBeforeOrThePaddingBehind() throws {
        let before = try finder(ordinary).run(noting: 1, at: at(9)).get()
        #expect(before.start == at(4) && before.hooks == [.init(index: 2, record: 1)])
        let padded = ordinary + [0x0F, 0x1F, 0x40, 0x00, 0x90, 0x90]
        let behind = try finder(padded, count: 10).run(noting: 1, at: at(9)).get()
        #expect(behind.start == at(9) && behind.hooks == [.init(index: 0, record: 1)])
        // Not where another function begins behind it.
        let short = try finder(padded, count: 10, border: 12).run(noting: 1, at: at(9)).get()
        #expect(short.start == at(4))
        #expect(
            finder(padded, count: 10, border: 12, targets: [at(9)]).run(noting: 1, at: at(9))
                == .failure(.narrow))
    }

    @Test func nothingJumpsInside() {
        // jmp to offset 1
        let looping: [UInt8] = [0x55, 0x48, 0x89, 0xE5, 0xEB, 0xFB]
        #expect(finder(looping).run(noting: 1, at: at(0), isEntry: true) == .failure(.jumpedInto))
        // jmp to offset 0: as often an entry as a loop.
        let restarting: [UInt8] = [0x48, 0x89, 0xE5, 0x90, 0x90, 0xEB, 0xF9]
        #expect(
            finder(restarting).run(noting: 1, at: at(0), isEntry: true)
                == .failure(.loopsToEntry))
        // A place that is not an entry may be jumped to.
        #expect((try? finder(restarting).run(noting: 1, at: at(0)).get()) != nil)
    }

    @Test func codeBehindTheJumpMayBeATarget() {
        // sub $16, %rsp; sub $16, %rsp; jmp to offset 8; the run ends at 8.
        let bytes: [UInt8] = [0x48, 0x83, 0xEC, 0x10, 0x48, 0x83, 0xEC, 0x10, 0xEB, 0xFE]
        #expect((try? finder(bytes).run(noting: 1, at: at(0), isEntry: true).get()) != nil)
        // But not between its start and the noted place: nop at 8, jumped to is 4.
        let noting: [UInt8] = [0x48, 0x83, 0xEC, 0x10, 0x48, 0x83, 0xEC, 0x10, 0x90, 0xEB, 0xF9]
        #expect(
            finder(noting, targets: [at(9)]).run(noting: 1, at: at(8)).map(\.start)
                == .success(at(4)))
    }

    @Test func whereSomethingBeginsIsNoRoom() {
        #expect(
            finder(ordinary, borders: [0, 4]).run(noting: 1, at: at(0), isEntry: true)
                == .failure(.narrow))
        #expect(
            (try? finder(ordinary, borders: [0, 5]).run(noting: 1, at: at(0), isEntry: true).get())
                != nil)
    }

    @Test func shortFunctionsAreRefused() {
        let bytes: [UInt8] = [0x31, 0xC0, 0xC3, 0xB8, 7, 0, 0, 0]
        #expect(
            finder(bytes, count: 3, border: 3).run(noting: 1, at: at(0), isEntry: true)
                == .failure(.narrow))
    }

    @Test func callsThatAreMadeElsewhereAreLeftAlone() {
        // mov $13, %eax; syscall
        let call: [UInt8] = [0xB8, 13, 0, 0, 0, 0x0F, 0x05, 0xC3]
        #expect(finder(call).run(noting: 1, at: at(0), isEntry: true) == .failure(.needed))
        // syscall
        let bare: [UInt8] = [0x0F, 0x05, 0x90, 0x90, 0x90, 0xC3]
        #expect(finder(bare).run(noting: 1, at: at(0), isEntry: true) == .failure(.unmovable))
    }

    /// A call returns to the code as it was: nothing can be noted behind it.
    @Test func nothingIsNotedBehindACall() {
        // call; ret, and no room behind
        let bytes: [UInt8] = [0xE8, 0x10, 0, 0, 0, 0xC3]
        #expect((try? finder(bytes).run(noting: 1, at: at(0), isEntry: true).get()) != nil)
        #expect(finder(bytes, border: 6).run(noting: 1, at: at(5)) == .failure(.unmovable))
    }

    /// xor %eax, %eax; ret; and padding: one run notes both.
    @Test func bothEndsOfAShortFunctionAreOneRun() throws {
        let bytes: [UInt8] = [0x31, 0xC0, 0xC3] + [UInt8](repeating: 0x90, count: 13)
        let finder = finder(bytes, count: 3)
        let entry = try finder.run(noting: 1, at: at(0), isEntry: true).get()
        let both = try finder.run(noting: 2, at: at(2), with: [entry]).get()
        #expect(both.start == at(0))
        #expect(both.hooks == [.init(index: 0, record: 1), .init(index: 1, record: 2)])
        // A lone return begins and ends in that order.
        let lone = self.finder([0xC3] + [UInt8](repeating: 0x90, count: 7), count: 1)
        let first = try lone.run(noting: 1, at: at(0), isEntry: true).get()
        let second = try lone.run(noting: 2, at: at(0), with: [first]).get()
        #expect(second.hooks.map(\.record) == [1, 2])
    }

    /// The trampoline does what the run does, and goes back behind it.
    @Test func trampolines() throws {
        let run = try finder(ordinary).run(noting: 7, at: at(0), isEntry: true).get()
        let place = Self.start + 0x10_0000
        let trampoline = try #require(run.trampoline)
        let code = try #require(trampoline.bytes(at: place, routine: place - 8))
        let found = disassembler.instructions(in: code, at: place)
        #expect(found.last?.end == place + UInt64(code.count))
        let call = try #require(found.first { $0.kind == .indirectCall })
        #expect(call.reference?.location == place - 8)
        #expect(found.last?.kind == .jump(to: run.end))
        #expect(found.dropLast().suffix(3).flatMap(\.bytes) == Array(ordinary.prefix(8)))
        #expect(trampoline.bytes(at: place + 1 << 33, routine: place) == nil)
        #expect(MovableCode.jump(to: place).bytes(at: run.start)?.count == MovableCode.jumpLength)
        #expect(MovableCode.jump(to: place + 1 << 33).bytes(at: run.start) == nil)
    }
}
