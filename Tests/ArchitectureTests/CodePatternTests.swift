import Architecture
import Testing

/// Short pieces of code, as disassemblers show them.
@Suite struct CodePatternTests {
    @Test func loadsOfCallNumbers() {
        let code = SystemCallInstruction.code(
            after: SystemCallInstruction.load(of: .clock_nanosleep))
        #expect(code == [0xB8, 0xE6, 0, 0, 0, 0x0F, 0x05])
        #expect(SystemCallInstruction(code)?.number == SystemCall.clock_nanosleep.rawValue)
        let any = SystemCallInstruction.code(after: SystemCallInstruction.loadOfLastArgument)
        #expect(any == [0x4C, 0x8B, 0x4C, 0x24, 0x08, 0x0F, 0x05])
        #expect(SystemCallInstruction(any) != nil)
        #expect(SystemCallInstruction(any)?.number == nil)
        #expect(SystemCallInstruction([0x90, 0x90, 0x90, 0x31, 0xC0, 0x0F, 0x05])?.number == 0)
        #expect(SystemCallInstruction([]) == nil)
        // As glibc 2.36 has it in epoll_pwait, and in recvfrom with two loads.
        let (first, second) = (
            [0x8B, 0x7C, 0x24, 4] as [UInt8], [0x48, 0x8B, 0x74, 0x24, 8] as [UInt8]
        )
        #expect(
            SystemCallInstruction([0xB8, 0x19, 1, 0, 0] + first + [0x0F, 0x05])?.number == 281)
        #expect(
            SystemCallInstruction([0x90, 0xB8, 45, 0, 0, 0] + second + first + [0x0F, 0x05])?.number
                == 45)
        // Whatever can be read.
        for memory in [20, 10] {
            let bytes = [UInt8](repeating: 0x90, count: 20 - code.count) + code
            let found = SystemCallInstruction.ending(at: 0x1014) { address, count in
                address < 0x1014 - UInt64(memory)
                    ? [] : Array(bytes[Int(address - 0x1000)...].prefix(count))
            }
            #expect(found?.number == SystemCall.clock_nanosleep.rawValue)
        }
        #expect(SystemCallInstruction(Array(code.dropLast()) + [0x06]) == nil)
    }

    @Test func returnsFromSignals() {
        #expect(
            SystemCallInstruction.signalReturns == [
                [0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05], [0xB8, 0x0F, 0, 0, 0, 0x0F, 0x05],
            ])
    }

    @Test func jumpsTakeThePlaceOfFiveBytes() throws {
        let word: UInt64 = 0x8877_6655_4433_2211
        let jump = try #require(JumpPatch.word(from: 0x1000, to: 0x0F05))
        #expect(jump == 0xFF_FFFF_00E9)
        let patched = JumpPatch.word(word, beginning: jump)
        #expect(patched == 0x8877_66FF_FFFF_00E9)
        #expect(JumpPatch.replaced(of: patched) == jump)
        #expect(JumpPatch.word(patched, beginning: word) == word)
        #expect(JumpPatch.word(from: 0, to: JumpPatch.reach + 4) != nil)
        #expect(JumpPatch.word(from: 0, to: JumpPatch.reach + 5) == nil)
    }

    /// `call rel32`; `call *%rax`; `call *disp32(%rip)`; something else.
    @Test func callsBeforeAnAddress() {
        #expect(CallPattern(endOf: [0x90, 0x90, 0xE8, 1, 0, 0, 0]) == .direct)
        #expect(CallPattern(endOf: [0x90, 0x90, 0x90, 0x90, 0x90, 0xFF, 0xD0]) == .indirect)
        #expect(CallPattern(endOf: [0x90, 0xFF, 0x15, 1, 0, 0, 0]) == .indirect)
        #expect(CallPattern(endOf: [0x90, 0xFF, 0x25, 1, 0, 0, 0]) == [])
    }

    /// `mov %eax, %edi; call`, and another move.
    @Test func handovers() {
        let code: [UInt8] = [0x89, 0xC7, 0xE8, 0xF9, 0xFF, 0xFF, 0xFF, 0x90]
        let read = { (count: Int) -> [UInt8]? in
            count <= code.count ? Array(code.prefix(count)) : nil
        }
        #expect(HandoverPattern.target(at: 0x1000, read: read) == 0x1000)
        #expect(
            HandoverPattern.target(at: 0x1000) { read($0).map { [0x8B] + $0.dropFirst() } } == nil)
        #expect(HandoverPattern.target(at: 0x1000) { _ in nil } == nil)
    }

    @Test func stubs() {
        let jump: [UInt8] = [0xFF, 0x25, 0x10, 0x20, 0, 0]
        #expect(StubCode.slot(of: jump, at: 0x1000) == 0x3016)
        #expect(StubCode.slot(of: CodeBytes.landingMark + jump, at: 0x1000) == 0x301A)
        #expect(StubCode.slot(of: jump.dropLast(), at: 0x1000) == nil)
        let pushed = CodeBytes.landingMark + [0x68, 0xFF, 0xFF, 0xFF, 0xFF]
        #expect(StubCode.pushedIndex(of: pushed) == 0xFFFF_FFFF)
        #expect(StubCode.pushedIndex(of: [0x68, 1, 0, 0, 0]) == nil)
        #expect(StubCode.pushedIndex(of: pushed.dropLast()) == nil)
    }

    @Test func initFunctions() throws {
        let subtraction: [UInt8] = [0x48, 0x83, 0xEC, 0x08]
        let marked = try #require(InitFunction(head: CodeBytes.landingMark + subtraction))
        #expect(marked.frameSize(at: 0, code: [0xF3]) == 8)
        #expect(marked.frameSize(at: 4, code: [0x48]) == 8)
        #expect(marked.frameSize(at: 8, code: [0x48]) == 16)
        #expect(marked.frameSize(at: 24, code: CodeBytes.return) == 8)
        let plain = try #require(InitFunction(head: subtraction + [0x48, 0x8B, 0x05, 0]))
        #expect(plain.frameSize(at: 4, code: nil) == 16)
        #expect(InitFunction(head: [0x55, 0x48, 0x89, 0xE5, 0x48, 0x83, 0xEC, 0x08]) == nil)
    }

    @Test func goCallsC() {
        let rest: [UInt8] = [0x48, 0x8B, 0x74, 0x24, 0x20, 0x48, 0x89, 0xF4]
        #expect(GoCallToC(call: [0xFF, 0xD0], rest: rest) == .onSameStack(0x20))
        #expect(GoCallToC(call: [0xFF, 0xD0], rest: Array(rest.reversed())) == .onOtherStack)
        #expect(GoCallToC(call: [0xFF, 0xD1], rest: rest) == nil)
        #expect(GoCallToC(call: [0xFF, 0xD0], rest: nil) == nil)
    }

    @Test func pages() {
        #expect(VirtualMemory.pageStart(of: 0x1FFF) == 0x1000)
        #expect(VirtualMemory.pageEnd(of: 0x1000) == 0x1000)
        #expect(VirtualMemory.pageEnd(of: 0x1001) == 0x2000)
        #expect(VirtualMemory.wholePages(0) == 0)
        #expect(VirtualMemory.wholePages(1) == 4096)
        #expect(VirtualMemory.pages(of: 0x1FFF..<0x2001) == 1..<3)
    }
}
