internal import Architecture
internal import ProfileModel

/// The ways out of a function, except by an exception.
struct FunctionExits {
    /// Where a fixed jump out of a function's parts leads.
    enum Destination {
        /// The beginning of another function, or a stub that leads to one.
        case function
        /// Another part of the same function.
        case part(Range<UInt64>)
        /// Unknown: the code there may jump back.
        case unknown(Range<UInt64>?)
    }

    /// The instructions that end the function; ascending.
    private(set) var exits: [UInt64] = []
    /// The targets of jumps in all parts.
    private(set) var targets: [UInt64] = []
    /// Parts of the function that are elsewhere.
    private(set) var blocks: [CodeBlock]
    /// Why its exits are unknown. Its targets are known as far as possible.
    private(set) var refusal: MarkRefusal?

    private static let mostParts = 16

    /// - Parameters:
    ///   - block: the function's own code.
    ///   - tables: gives the targets in the jump tables that instructions refer to.
    ///   - destination: returns the target of a jump out of the known parts.
    ///   - part: returns another part's code.
    init(
        _ block: CodeBlock, tables: ([Instruction]) -> [UInt64],
        destination: (UInt64) -> Destination, part: (Range<UInt64>) -> CodeBlock?
    ) {
        blocks = [block]
        var index = 0
        while index < blocks.count {
            follow(blocks[index], destination, part)
            index += 1
        }
        followIndirect(tables)
        if exits.isEmpty, refusal == nil { refusal = .endless }
        if blocks.contains(where: { !$0.isComplete }) { refusal = .unreadable }
        exits.sort()
        targets.sort()
    }

    private func contains(_ address: UInt64) -> Bool {
        blocks.contains { $0.range.contains(address) }
    }

    private mutating func follow(
        _ block: CodeBlock, _ destination: (UInt64) -> Destination,
        _ part: (Range<UInt64>) -> CodeBlock?
    ) {
        for instruction in block.own {
            if instruction.kind == .return { exits.append(instruction.address) }
            guard let target = instruction.destination else { continue }
            targets.append(target)
            if contains(target) { continue }
            switch destination(target) {
            case .part(let range): add(range, part)
            case .function:
                if case .jump = instruction.kind {
                    exits.append(instruction.address)
                } else {
                    refusal = .leavesOnCondition
                }
            case .unknown(let range):
                refusal = .leavesUnseen
                if let range { add(range, part) }
            }
        }
    }

    private mutating func add(_ range: Range<UInt64>, _ part: (Range<UInt64>) -> CodeBlock?) {
        guard blocks.count < Self.mostParts, let found = part(range) else {
            refusal = .leavesUnseen
            return
        }
        blocks.append(found)
    }

    /// A jump by a table stays inside the function; one by a pointer leaves it.
    private mutating func followIndirect(_ tables: ([Instruction]) -> [UInt64]) {
        let all = blocks.flatMap(\.own)
        guard all.contains(where: { $0.kind == .indirectJump }) else { return }
        let listed = tables(all).filter(contains)
        targets += listed
        for (index, instruction) in all.enumerated() where instruction.kind == .indirectJump {
            let isSum = index > 0 && all[index - 1].isSum
            let isIndexed = instruction.isIndexed || (index > 0 && all[index - 1].isIndexed)
            if listed.isEmpty || (!isSum && !isIndexed && instruction.readsMemory) {
                exits.append(instruction.address)
            } else if !isSum, !isIndexed {
                refusal = .unclearJump
            }
        }
    }
}
