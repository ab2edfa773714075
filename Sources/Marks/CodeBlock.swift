internal import Architecture
import ProfileModel

/// A contiguous piece of code, and the filler after it.
struct CodeBlock {
    /// Without the filler.
    let range: Range<UInt64>
    /// Ascending, without gaps.
    let instructions: [Instruction]
    /// True if all of it could be disassembled.
    let isComplete: Bool

    /// - Parameters:
    ///   - code: the bytes from the range's start on. Those after its end count only as far as they
    ///     are filler, and not beyond `border`.
    ///   - border: the next address at which other code or data begins.
    init(_ range: Range<UInt64>, code: [UInt8], border: UInt64, _ disassembler: Disassembler) {
        let own = code.prefix(range.count)
        var found = disassembler.instructions(in: Array(own), at: range.lowerBound)
        let end = found.last?.end ?? range.lowerBound
        isComplete = end == range.upperBound && !found.isEmpty
        if isComplete {
            let behind = Array(code.dropFirst(range.count))
            found += disassembler.instructions(in: behind, at: end).prefix {
                $0.isFiller && $0.end <= border
            }
        }
        self.range = range
        instructions = found
    }

    /// The position of the instruction that begins at an address.
    func index(of address: UInt64) -> Int? {
        let index = instructions.partitionIndex { $0.address >= address }
        guard index < instructions.count, instructions[index].address == address else { return nil }
        return index
    }

    /// The targets of its own jumps and branches.
    var destinations: [UInt64] { own.compactMap(\.destination) }

    /// Without the filler.
    var own: ArraySlice<Instruction> {
        instructions.prefix { range.contains($0.address) }
    }
}
