import Architecture
import FuzzSupport
import ProfileModel
import Unwind

// An ELF file, mapped at an address of its own; stacks whose words point into its code are
// unwound by its tables.

private let file = TemporaryFile("rules")
private let base: UInt64 = 0x5555_0000_0000
private let stackStart: UInt64 = 0x7FFF_0000_0000

func fuzzRules(_ bytes: UnsafeRawBufferPointer) {
    file.write(bytes)
    var code: [Range<UInt64>] = []
    for segment in ELFLayout(bytes).code.prefix(4) {
        let start = base &+ UInt64(code.count) << 32
        let size = min(max(segment.size, 1), 1 << 24)
        code.append(start..<start + size)
        // Each as if it were the file's only one.
        unwind(
            in: code[code.count - 1],
            CodeMapping(
                start: start, end: start + size, fileOffset: segment.offset & ~0xFFF,
                path: file.path, inode: 0))
    }
}

private func unwind(in code: Range<UInt64>, _ mapping: CodeMapping) {
    // Both engines, and the one in place of the other wherever that ends.
    let unwinders = [
        Unwinder(opinion: SecondOpinion(share: 1)), Unwinder(engine: .libunwind),
    ]
    for unwinder in unwinders {
        _ = unwinder.update([mapping], at: MonotonicTime(nanoseconds: 0))
    }
    var number = code.lowerBound &* 0x9E37_79B9_7F4A_7C15
    func next() -> UInt64 {
        number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return number >> 24
    }
    for _ in 0..<16 {
        let stack = (0..<128).flatMap { index -> [UInt8] in
            let isCode = next() % 3 != 0
            let word =
                isCode
                ? code.lowerBound + next() % UInt64(code.count)
                : stackStart + (next() % 128) * 8
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
        var registers = Registers(
            programCounter: code.lowerBound + next() % UInt64(code.count), stackPointer: stackStart)
        if next() % 2 == 0 {
            for register in 0..<16 where register != Registers.stackPointer {
                registers[register] = stackStart + (next() % 128) * 8
            }
        }
        let snapshot = Snapshot(
            registers: registers, stack: StackCopy(start: stackStart, bytes: stack))
        for unwinder in unwinders { _ = unwinder.unwind(snapshot) }
    }
}
