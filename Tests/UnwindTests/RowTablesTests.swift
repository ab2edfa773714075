import Architecture
import ELF
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// Rules out of `.eh_frame`, read by us, against libdw's.
@Suite struct RowTablesTests {
    /// A file's tables in all ways that there are to ask them.
    private struct Tables {
        let file: ELFFile
        let section: TableSection
        let withHeader: RowTables
        let withoutHeader: RowTables
        let ofLibrary: FrameTables

        init?(_ path: String) {
            guard let file = try? ELFFile(path: path, access: .read),
                let section = file.contents(ofSection: ".eh_frame"),
                let header = file.contents(ofSection: ".eh_frame_hdr")
            else { return nil }
            self.file = file
            self.section = section
            withHeader = RowTables(section, header: header)
            withoutHeader = RowTables(section, header: nil)
            ofLibrary = FrameTables(file)
        }

        var functions: [FunctionEntry] {
            let entries = FrameEntries(section: section)
            var result: [FunctionEntry] = []
            var position = 0
            while let header = entries.header(at: position) {
                if let entry = entries.function(at: position), entry.size > 0 {
                    result.append(entry)
                }
                position = header.next
            }
            return result
        }
    }

    /// Larger tables are of the same few compilers, and take their time.
    private static let mostBytes = 400_000
    private static let folder = "/usr/lib/x86_64-linux-gnu"

    private static func libraries() -> [String] {
        var found: [String] = []
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            // Links to a library are not one more.
            if name.contains(".so"), readlink(folder + "/" + name, &path, path.count) < 0 {
                found.append(folder + "/" + name)
            }
        }
        return found.sorted()
    }

    /// All libraries of the system, some functions of each, some addresses of each function: the
    /// rules are libdw's, but for two kinds of expressions that libdw has only as expressions.
    @Test func theRulesAreThoseOfAnotherReader() {
        var random = SeededNumbers(seed: 61)
        var compared = 0
        var stubs = 0
        var realigned = 0
        var unknown = 0
        for path in Self.libraries() {
            guard let tables = Tables(path), tables.section.bytes.count < Self.mostBytes else {
                continue
            }
            for entry in tables.functions.shuffled(using: &random).prefix(20) {
                let inside = (0..<4).map { _ in UInt64.random(in: 0..<entry.size, using: &random) }
                for offset in [0, entry.size - 1] + inside {
                    let address = entry.start &+ offset
                    let answer = tables.withHeader.answer(at: address)
                    #expect(answer == tables.withoutHeader.answer(at: address))
                    guard case .rule(let rule) = answer else {
                        // libdw is asked then: assembly exists (in libgcrypt) that names a CFA's
                        // register while it is an expression.
                        if answer == .unknown { unknown += 1 }
                        let isLeft = answer == .signalFrame || answer == .unknown
                        #expect(isLeft, "\(path) \(address)")
                        continue
                    }
                    compared += 1
                    let other = tables.ofLibrary.ruleOfLibrary(at: address)
                    if rule == other { continue }
                    if rule.kind == .fromSavedAddress { realigned += 1 } else { stubs += 1 }
                    let steps = Self.isSameStep(rule, at: address, tables.ofLibrary)
                    #expect(other?.kind == .general && steps, "\(path) \(address) \(rule)")
                }
            }
        }
        #expect(compared > 10_000 && stubs > 0 && realigned > 0)
        #expect(unknown * 1000 < compared)
    }

    /// Whether a rule leads to the same caller as libdw's expressions: on a stack of which every
    /// word is the address of another one, above the frame pointer, as saved values are.
    private static func isSameStep(
        _ rule: UnwindRule, at address: UInt64, _ tables: FrameTables
    ) -> Bool {
        let start: UInt64 = 0x7000_0000
        let size: UInt64 = 0x8000
        let words = (0..<size / 8).map { start + 0x5000 + ($0 &* 4056) % (size - 0x5040) & ~7 }
        var registers = Registers(programCounter: address, stackPointer: start + 0x1000)
        registers[Registers.framePointer] = start + 0x4000
        let snapshot = Snapshot(
            registers: registers, stack: StackCopy(start: start, words: words))
        return StackMemory.with(snapshot) { memory in
            guard
                case .caller(let caller, _)? = tables.step(
                    at: address, registers: registers, memory: memory)
            else { return false }
            let offset = UInt64(bitPattern: Int64(rule.cfaOffset))
            let frame: UInt64? =
                switch rule.kind {
                case .fromStackPointer: start + 0x1000 &+ offset
                case .fromSavedAddress: memory.word(at: start + 0x4000 &+ offset)
                default: nil
                }
            guard let frame else { return false }
            var pointer: UInt64? = start + 0x4000
            if rule.framePointerOffset != UnwindRule.unchanged {
                pointer = memory.word(
                    at: start + 0x4000 &+ UInt64(bitPattern: Int64(rule.framePointerOffset)))
            }
            return caller.stackPointer == frame && caller.framePointer == pointer
                && caller.programCounter == memory.word(at: frame &- 8)
        }
    }

    // MARK: What hand-written tables say

    private static func rules(
        _ source: String, _ scratch: Scratch, options: String...
    ) throws -> (symbol: (String) throws -> UnwindRule, tables: FrameTables) {
        let path = try scratch.assemble(source, as: "rows.so")
        let symbols = try scratch.symbols(of: path)
        let tables = FrameTables(try ELFFile(path: path, access: .read))
        return ({ tables.rule(at: try #require(symbols[$0])) }, tables)
    }

    @Test func everyWayToMoveTheFrame() throws {
        let (rule, _) = try Self.rules(
            """
            .text
            start: .cfi_startproc
            nop
            .cfi_def_cfa_offset 4096
            large: nop
            .cfi_remember_state
            .cfi_def_cfa %rbp, 32
            .cfi_offset %rbp, -32
            framed: nop
            .cfi_restore_state
            restored: .fill 300, 1, 0x90
            .cfi_def_cfa_register %rbp
            far: .fill 70000, 1, 0x90
            .cfi_adjust_cfa_offset 8
            farther: nop
            .cfi_escape 0x12, 7, 0x7e          # def_cfa_sf: rsp + (-2 * -8)
            scaled: nop
            .cfi_escape 0x13, 0x7d             # def_cfa_offset_sf: -3 * -8
            rescaled: nop
            .cfi_escape 0x2e, 16               # GNU_args_size
            .cfi_escape 0x11, 6, 5             # offset_extended_sf: rbp at 5 * -8
            saved: nop
            .cfi_escape 0x2f, 6, 3             # GNU_negative_offset_extended: rbp at 3 * 8
            negative: nop
            .cfi_escape 0x05, 6, 2             # offset_extended
            extended: nop
            .cfi_escape 0x06, 6                # restore_extended
            initial: nop
            .cfi_val_offset %rbp, -16
            value: nop
            .cfi_same_value %rbp
            same: nop
            .cfi_register %rbp, %rbx
            moved: nop
            .cfi_endproc
            """, Scratch())
        func check(
            _ symbol: String, _ kind: UnwindRule.Kind, _ offset: Int32,
            _ framePointer: Int16 = UnwindRule.unchanged
        ) throws {
            var wanted = UnwindRule(kind)
            wanted.cfaOffset = offset
            wanted.framePointerOffset = framePointer
            #expect(try rule(symbol) == wanted, "\(symbol)")
        }
        try check("start", .fromStackPointer, 8)
        try check("large", .fromStackPointer, 4096)
        try check("framed", .fromFramePointer, 32, -32)
        try check("restored", .fromStackPointer, 4096)
        try check("far", .fromFramePointer, 4096)
        try check("farther", .fromFramePointer, 4104)
        try check("scaled", .fromStackPointer, 16)
        try check("rescaled", .fromStackPointer, 24)
        try check("saved", .fromStackPointer, 24, -40)
        try check("negative", .fromStackPointer, 24, 24)
        try check("extended", .fromStackPointer, 24, -16)
        try check("initial", .fromStackPointer, 24)
        #expect(try rule("value").kind == .general)
        try check("same", .fromStackPointer, 24)
        #expect(try rule("moved").kind == .general)
    }

    @Test func expressionsThatAreRules() throws {
        let (rule, _) = try Self.rules(
            """
            .text
            realigned: .cfi_startproc
            .cfi_escape 0x0f, 3, 0x76, 0x70, 0x06          # CFA = *(rbp - 16)
            .cfi_escape 0x10, 6, 2, 0x76, 0                # rbp at rbp
            inside: nop
            .cfi_escape 0x0f, 4, 0x76, 0x70, 0x06, 0x06    # read twice
            twice: nop
            .cfi_endproc
            .balign 16
            stub: .cfi_startproc
            .cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
            .fill 10, 1, 0x90
            before: nop
            pushed: nop
            .cfi_endproc
            """, Scratch())
        let inside = try rule("inside")
        #expect(inside.kind == .fromSavedAddress && inside.cfaOffset == -16)
        #expect(inside.framePointerOffset == 0)
        #expect(try rule("twice").kind == .general)
        for (symbol, offset) in [("stub", 8), ("before", 8), ("pushed", 16)] as [(String, Int32)] {
            let stub = try rule(symbol)
            #expect(stub.kind == .fromStackPointer && stub.cfaOffset == offset, "\(symbol)")
        }
    }

    /// For any bytes, a table is read to an end.
    @Test func anyBytesAtAll() {
        var random = SeededNumbers(seed: 67)
        for _ in 0..<3000 {
            let count = Int.random(in: 0..<200, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Often small lengths, so that there is something to read behind them.
            for index in stride(from: 0, to: count - 8, by: 24) {
                bytes.replaceSubrange(index..<index + 8, with: [20, 0, 0, 0, 0, 0, 0, 0])
                if index > 0 { bytes[index + 4] = UInt8(index + 4) }
                if index == 0, count > 16 {
                    bytes.replaceSubrange(8..<16, with: [1, 0x7A, 0x52, 0, 1, 0x78, 16, 1])
                }
            }
            let header = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
            bytes.withUnsafeBytes { raw in
                header.withUnsafeBytes { rawHeader in
                    let section = TableSection(bytes: raw, address: 0x1000)
                    let other = TableSection(bytes: rawHeader, address: 0x800)
                    for tables in [
                        RowTables(section, header: nil), RowTables(section, header: other),
                    ] {
                        for _ in 0..<8 { _ = tables.answer(at: random.next() & 0xFFFF) }
                        _ = tables.answer(at: .max)
                    }
                }
            }
        }
    }
}
