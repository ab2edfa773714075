import Architecture
import ELF
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

@Suite struct FrameTablesTests {
    private let scratch: Scratch
    private let tables: FrameTables
    private let symbols: [String: UInt64]

    init() throws {
        scratch = try Scratch()
        let library = try Assembly.library.get()
        symbols = library.symbols
        let path = try scratch.write(library.bytes, to: "rules.so")
        tables = FrameTables(try ELFFile(path: path, access: .read))
    }

    private func rule(_ symbol: String, _ offset: UInt64 = 0) throws -> UnwindRule {
        tables.rule(at: try #require(symbols[symbol]) + offset)
    }

    @Test func aFunctionStepByStep() throws {
        let atEntry = try rule("plain")
        #expect(atEntry.kind == .fromStackPointer && atEntry.cfaOffset == 8)
        #expect(atEntry.framePointerOffset == UnwindRule.unchanged)
        let saved = try rule("plain_saved")
        #expect(saved.kind == .fromStackPointer && saved.cfaOffset == 16)
        #expect(saved.framePointerOffset == -16)
        let framed = try rule("plain_framed")
        #expect(framed.kind == .fromFramePointer && framed.cfaOffset == 16)
        #expect(framed.framePointerOffset == -16)
        #expect(try rule("plain_after") == atEntry)
    }

    @Test func rulesThatNeedMoreBytes() throws {
        #expect(try rule("entry").kind == .end)
        #expect(try rule("expression").kind == .general)
        #expect(try rule("other_register").kind == .general)
        #expect(try rule("handler_return").kind == .general)
        #expect(try rule("lost_frame_pointer").kind == .general)
    }

    @Test func codeWithoutTables() throws {
        #expect(try rule("bare").kind == .frameRecord)
        #expect(try rule("restorer").kind == .signalReturn)
        #expect(try rule("short_restorer").kind == .signalReturn)
        #expect(try rule("cloner").kind == .afterSystemCall)
        #expect(try rule("cloner_after").kind == .afterSystemCall)
        #expect(try rule("cloner_after", 1).kind == .frameRecord)
    }

    /// The called function's result is passed on to exit(3).
    @Test(arguments: ["main_returned", "thread_returned", "narrow_returned"])
    func callersOfFunctionsThatDoNotReturn(symbol: String) throws {
        let address = CodeAddress(try #require(symbols[symbol]), .returnAddress)
        #expect(tables.rule(at: address.lookup).kind == .end)
    }

    @Test(arguments: ["goes_on", "other_value", "nothing_called"])
    func callersOfFunctionsThatReturn(symbol: String) throws {
        let address = CodeAddress(try #require(symbols[symbol]), .returnAddress)
        #expect(tables.rule(at: address.lookup).kind == .frameRecord)
    }

    /// A handler returns to the first byte of the restorer; the lookup uses the byte before.
    @Test func aRestorerThatWasPushedAsAReturnAddress() throws {
        let restorer = try #require(symbols["restorer"])
        let address = CodeAddress(restorer, .returnAddress)
        #expect(tables.rule(at: address.lookup).kind == .signalReturn)
    }

    @Test(arguments: [
        "direct_after", "register_after", "extended_after", "short_after", "long_after",
        "table_after",
    ])
    func behindACall(symbol: String) throws {
        #expect(tables.isBehindCall(try #require(symbols[symbol])))
    }

    @Test(arguments: ["bare", "no_call", "jumped"])
    func notBehindACall(symbol: String) throws {
        #expect(!tables.isBehindCall(try #require(symbols[symbol])))
    }

    @Test(arguments: [0, 1, 6, 7, 1 << 40, .max, .max - 7] as [UInt64])
    func addressesOutsideOfTheFile(address: UInt64) {
        #expect(!tables.isBehindCall(address))
        #expect(tables.rule(at: address).kind == .frameRecord)
        let registers = Registers(programCounter: address, stackPointer: 0x7000)
        let snapshot = Snapshot(registers: registers, stack: StackCopy(start: 0x7000, bytes: []))
        let step = tables.step(
            at: address, registers: registers, memory: StackMemory(snapshot))
        if case .caller = step { Issue.record("a caller out of nothing") }
    }

    /// A step by the full tables: an expression, another register, a signal's frame.
    @Test func generalSteps() throws {
        var registers = Registers(programCounter: 0, stackPointer: 0x7000)
        registers[10] = 0x7010
        registers[3] = 33
        let words: [UInt64] = [1, 0x7018, 0x40_1000, 7, 8]
        let snapshot = Snapshot(
            registers: registers, stack: StackCopy(start: 0x7000, words: words))
        func caller(_ symbol: String) throws -> (Registers, Bool)? {
            let step = tables.step(
                at: try #require(symbols[symbol]), registers: registers,
                memory: StackMemory(snapshot))
            guard case .caller(let caller, let isSignalFrame) = step else { return nil }
            return (caller, isSignalFrame)
        }
        // CFA = *(rsp + 8)
        let expression = try #require(try caller("expression"))
        #expect(expression.0.stackPointer == 0x7018)
        #expect(expression.0.programCounter == 0x40_1000)
        #expect(expression.0[3] == 33)
        #expect(!expression.1)
        // CFA = r10 + 8
        let other = try #require(try caller("other_register"))
        #expect(other.0.stackPointer == 0x7018 && other.0.programCounter == 0x40_1000)
        let handler = try #require(try caller("handler_return"))
        #expect(handler.1)
        guard
            case .end? = tables.step(
                at: try #require(symbols["entry"]), registers: registers,
                memory: StackMemory(snapshot))
        else {
            Issue.record("an entry function has a caller")
            return
        }
    }

    @Test func missingPartsOfAStep() throws {
        let registers = Registers(programCounter: 0, stackPointer: 0x7000)
        let snapshot = Snapshot(
            registers: registers, stack: StackCopy(start: 0x7000, words: [1]))
        for (symbol, reason) in [
            ("other_register", Truncation.unknownRegister), ("expression", .stackLimit),
        ] {
            guard
                case .failed(reason)? = tables.step(
                    at: try #require(symbols[symbol]), registers: registers,
                    memory: StackMemory(snapshot))
            else {
                Issue.record("\(symbol)")
                continue
            }
        }
    }

    @Test func tablesForDebuggersServeToo() throws {
        let library = try scratch.assemble(
            ".cfi_sections .debug_frame\n" + Assembly.source, as: "debug.so")
        let symbols = try scratch.symbols(of: library)
        let tables = FrameTables(try ELFFile(path: library, access: .read))
        let framed = tables.rule(at: try #require(symbols["plain_framed"]))
        #expect(framed.kind == .fromFramePointer && framed.framePointerOffset == -16)
        #expect(tables.rule(at: try #require(symbols["entry"])).kind == .end)
        #expect(tables.rule(at: try #require(symbols["bare"])).kind == .frameRecord)
    }

    @Test func aFileOfAnotherLanguageHasNoGoEntries() throws {
        let file = try ELFFile(path: "/bin/true", access: .read)
        let entries = GoEntries(file)
        #expect(!(0..<0x8000).contains { entries.contains($0) })
        // Nor has one that only borrows a name.
        let library = try scratch.assemble(
            """
            .globl "runtime.goexit"
            .type "runtime.goexit", @function
            "runtime.goexit": nop
            .size "runtime.goexit", 1
            """, as: "borrowed.so")
        let address = try #require(try scratch.symbols(of: library)["runtime.goexit"])
        let other = GoEntries(try ELFFile(path: library, access: .read))
        #expect(!other.contains(address))
    }

    @Test func aGoFilesEntriesAreFound() throws {
        let library = try scratch.assemble(
            """
            .globl "runtime.goexit.abi0", "runtime.goexits"
            .type "runtime.goexit.abi0", @function
            .type "runtime.goexits", @function
            "runtime.goexit.abi0": nop; nop
            .size "runtime.goexit.abi0", 2
            "runtime.goexits": nop
            .size "runtime.goexits", 1
            .section .gopclntab, "a"
            .quad 1
            """, as: "go.so")
        let address = try #require(try scratch.symbols(of: library)["runtime.goexit.abi0"])
        let entries = GoEntries(try ELFFile(path: library, access: .read))
        #expect((0..<4).map { entries.contains(address + $0) } == [true, true, false, false])
        let tables = FrameTables(try ELFFile(path: library, access: .read))
        #expect(tables.rule(at: address).kind == .end)
    }

    /// The bottom of a stack that the program made itself is a return address that no call has
    /// pushed.
    @Test func codeThatIsNoCall() throws {
        let library = try scratch.assemble(
            """
            .globl first, second, third
            .type first, @function
            .type second, @function
            .type third, @function
            first: .rept 16
            nop
            .endr
            second: call first@PLT
            third: nop
            """, as: "calls.so")
        let symbols = try scratch.symbols(of: library)
        let tables = FrameTables(try ELFFile(path: library, access: .read))
        #expect(tables.isBehindOtherCode(try #require(symbols["second"])))
        #expect(!tables.isBehindOtherCode(try #require(symbols["third"])))
        #expect(!tables.isBehindOtherCode(0) && !tables.isBehindOtherCode(.max))
    }

    /// A greenlet's stack ends with the function that started it; a file that only borrows its name has
    /// callers like any other.
    @Test(arguments: [("PyInit__greenlet", true), ("PyInit__other", false)])
    func aGreenletsStackHasAnEnd(module: String, isEnd: Bool) throws {
        let start = "_ZN8greenlet12UserGreenlet13g_initialstubEPv"
        let library = try scratch.assemble(
            """
            .globl "\(module)", "\(start)"
            .type "\(module)", @function
            .type "\(start)", @function
            "\(module)": .cfi_startproc; nop; .cfi_endproc
            .size "\(module)", 1
            "\(start)": .cfi_startproc; nop; nop; .cfi_endproc
            .size "\(start)", 2
            """, as: "greenlet.so")
        let symbols = try scratch.symbols(of: library)
        let tables = FrameTables(try ELFFile(path: library, access: .read))
        let address = try #require(symbols[start])
        #expect(tables.rule(at: address + 1).kind == (isEnd ? .end : .fromStackPointer))
        #expect(tables.rule(at: try #require(symbols[module])).kind == .fromStackPointer)
    }
}

/// The bytes read ahead are the file's, in whatever order they are requested.
@Suite struct CodeWindowTests {
    @Test(arguments: 1...20) func theWindowTellsWhatTheFileTells(seed: UInt64) throws {
        let scratch = try Scratch()
        let library = try Assembly.library.get()
        let path = try scratch.write(library.bytes, to: "code.so")
        let file = try ELFFile(path: path, access: .read)
        let window = CodeWindow(file)
        var random = SeededNumbers(seed: seed)
        let edges = file.segments.flatMap {
            [$0.address, $0.address &+ $0.fileSize]
        }
        var address: UInt64 = 0
        for _ in 0..<2000 {
            if Int.random(in: 0..<4, using: &random) == 0 {
                address =
                    [0, .max, edges.randomElement(using: &random) ?? 0]
                    .randomElement(using: &random) ?? 0
            }
            address &+= UInt64.random(in: 0..<80, using: &random) &- 40
            let count = Int.random(in: 0...20, using: &random)
            #expect(
                window.bytes(at: address, count: count) == file.bytes(at: address, count: count),
                "\(count) bytes at \(address)")
        }
    }
}
