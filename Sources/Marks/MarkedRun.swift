internal import Architecture

/// Whole instructions that a jump replaces, and the records to note among them.
struct MarkedRun: Hashable {
    /// A record that is noted right before an instruction.
    struct Hook: Hashable {
        /// The instruction's position in the run.
        var index: Int
        /// The number of the record.
        var record: UInt32
    }

    var instructions: [Instruction]
    /// In the order in which they are noted.
    var hooks: [Hook]

    var start: UInt64 { instructions.first?.address ?? 0 }
    var end: UInt64 { instructions.last?.end ?? start }

    /// The addresses that no code may jump to any more.
    var inside: Range<UInt64> { (start &+ 1)..<(start &+ UInt64(MovableCode.jumpLength)) }

    /// The run in an image that is loaded higher by `bias`.
    func moved(by bias: UInt64) -> MarkedRun {
        MarkedRun(instructions: instructions.map { $0.moved(by: bias) }, hooks: hooks)
    }

    /// The run moved elsewhere: it notes its records and then does the same as the original code.
    /// nil: it cannot be moved.
    var trampoline: MovableCode? {
        var code = MovableCode()
        for (index, instruction) in instructions.enumerated() {
            for hook in hooks where hook.index == index {
                code += MarkFrame.call(noting: hook.record, at: instruction.address)
            }
            guard let moved = instruction.movableCode else { return nil }
            code += moved
            // The filler after it is never reached.
            if instruction.endsFlow { return code }
        }
        return code + .jump(to: end)
    }
}
