internal import ProfileModel

/// Whole instructions that a jump takes the place of, and what is noted on their way.
package struct MarkedRun: Hashable {
    /// What is noted right before an instruction.
    package struct Hook: Hashable {
        /// The instruction's position in the run.
        package var index: Int
        /// The number of the record that tells what.
        package var record: UInt32
    }

    var instructions: [Instruction]
    /// In the order in which they are noted.
    package var hooks: [Hook]

    package var start: UInt64 { instructions.first?.address ?? 0 }
    package var end: UInt64 { instructions.last?.end ?? start }

    /// What nobody may jump to any more, nor be in when it is written.
    package var inside: Range<UInt64> { (start &+ 1)..<(start &+ UInt64(Relocation.jumpLength)) }
}

/// The run in another place, where it notes what it is for and then does what it did.
package enum Trampoline {
    /// - Parameters:
    ///   - place: where its first byte will be.
    ///   - routine: the address of a word that holds the address of the code that notes.
    /// - Returns: nil when something is too far from there.
    package static func code(for run: MarkedRun, at place: UInt64, routine: UInt64) -> [UInt8]? {
        var code: [UInt8] = []
        for (index, instruction) in run.instructions.enumerated() {
            for hook in run.hooks where hook.index == index {
                guard
                    let call = call(
                        routine, noting: hook.record, of: instruction,
                        at: place &+ UInt64(code.count))
                else { return nil }
                code += call
            }
            guard let moved = Relocation.bytes(of: instruction, at: place &+ UInt64(code.count))
            else { return nil }
            code += moved
            // What fills the room behind is not reached.
            if instruction.endsFlow { return code }
        }
        guard let back = Relocation.jump(from: place &+ UInt64(code.count), to: run.end) else {
            return nil
        }
        return code + back
    }

    /// What leads there from the run's start; nil when it is too far.
    package static func jump(from run: MarkedRun, to place: UInt64) -> [UInt8]? {
        Relocation.jump(from: run.start, to: place)
    }

    /// Below the red zone; with a ``MarkFrame`` on the stack.
    private static func call(
        _ routine: UInt64, noting record: UInt32, of instruction: Instruction, at place: UInt64
    ) -> [UInt8]? {
        let before: [UInt8] =
            [0x48, 0x8D, 0x64, 0x24, 0x80]  // lea -128(%rsp), %rsp
            + Relocation.push(instruction.address)
            + [0x68] + Relocation.bytes(MarkFrame.word(record: record))
        let callPlace = place &+ UInt64(before.count)
        return Relocation.distance(from: callPlace, length: 6, to: routine).map { distance in
            before + [0xFF, 0x15] + Relocation.bytes(distance)  // call *routine(%rip)
                + [0x48, 0x8D, 0xA4, 0x24]  // lea size(%rsp), %rsp
                + Relocation.bytes(UInt32(MarkFrame.size))
        }
    }
}
