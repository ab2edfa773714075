internal import Architecture
internal import ProfileModel

/// Finds room for jumps in a block of code.
struct RunFinder {
    let block: CodeBlock
    /// Addresses that the program may reach other than from the instruction before: the targets of
    /// jumps and branches, ascending.
    let targets: [UInt64]
    /// Where functions and labels begin, ascending.
    let borders: [UInt64]

    /// A run that notes a record before the instruction at an address. If it must include one of
    /// `others`, it does.
    ///
    /// - Parameter isEntry: no jump may lead to the instruction, since that would count as an
    ///   entry.
    func run(
        noting record: UInt32, at address: UInt64, isEntry: Bool = false,
        with others: [MarkedRun] = []
    ) -> Result<MarkedRun, MarkRefusal> {
        guard let site = block.index(of: address) else { return .failure(.unreadable) }
        if isEntry, hasTarget(address..<(address &+ 1)) { return .failure(.loopsToEntry) }
        var reason = MarkRefusal.narrow
        for first in stride(from: site, through: 0, by: -1) {
            let start = block.instructions[first].address
            guard address &- start <= Self.longestWay, isEntry ? first == site : true else { break }
            switch run(from: first, noting: record, at: site, others) {
            case .success(let run): return .success(run)
            case .failure(let why): if reason == .narrow { reason = why }
            }
            // A jump to this address would skip the instructions before it.
            if hasTarget(start..<(start &+ 1)) { break }
        }
        return .failure(reason)
    }

    /// How far before the address a run may begin, in bytes.
    private static let longestWay: UInt64 = 48

    private func run(
        from first: Int, noting record: UInt32, at site: Int, _ others: [MarkedRun]
    ) -> Result<MarkedRun, MarkRefusal> {
        var last = first
        let start = block.instructions[first].address
        // As far as the jump needs, and as far as other runs in its way need.
        var wanted = max(
            start &+ UInt64(MovableCode.jumpLength), block.instructions[site].end)
        for other in others where other.start < wanted && start < other.end {
            guard other.start >= start else { return .failure(.crowded) }
            wanted = max(wanted, other.end)
        }
        while block.instructions[last].end < wanted {
            last += 1
            guard last < block.instructions.count else { return .failure(.narrow) }
        }
        var run = MarkedRun(instructions: Array(block.instructions[first...last]), hooks: [])
        if let obstacle = obstacle(to: run, from: first, site: site) { return .failure(obstacle) }
        let firstCall = run.instructions.firstIndex(where: \.isCall) ?? run.instructions.count
        var hooks = [MarkedRun.Hook(index: site - first, record: record)]
        for other in others where other.start < run.end && run.start < other.end {
            guard let moved = block.index(of: other.start) else { return .failure(.crowded) }
            for hook in other.hooks {
                let index = moved + hook.index - first
                // Can a jump reach it without passing the start?
                let position = run.instructions[index].address
                if hasTarget((start &+ 1)..<(position &+ 1)) { return .failure(.jumpedInto) }
                if index > firstCall { return .failure(.crowded) }
                hooks.append(MarkedRun.Hook(index: index, record: hook.record))
            }
        }
        // A call returns to the original code.
        guard site - first <= firstCall else { return .failure(.unmovable) }
        run.hooks = hooks.enumerated().sorted {
            ($0.element.index, -$0.offset) < ($1.element.index, -$1.offset)
        }.map(\.element)
        return .success(run)
    }

    private func obstacle(to run: MarkedRun, from first: Int, site: Int) -> MarkRefusal? {
        let reached = max(run.inside.upperBound, block.instructions[site].address &+ 1)
        if hasTarget(run.inside.lowerBound..<reached) { return .jumpedInto }
        if Self.first(in: borders, from: run.inside.lowerBound) < run.inside.upperBound {
            return .narrow
        }
        var flows = true
        for (offset, instruction) in run.instructions.enumerated() {
            if !flows {
                guard instruction.isFiller else { return .narrow }
                continue
            }
            if block.range.contains(instruction.address) == false { return .narrow }
            if isCallOfOurs(first + offset) { return .needed }
            if instruction.movableCode == nil { return .unmovable }
            if instruction.isCall, offset < run.instructions.count - 1 {
                // The call returns to code that stays unchanged, or not at all.
                guard instruction.end >= run.inside.upperBound else { return .unmovable }
            }
            if instruction.endsFlow { flows = false }
        }
        return nil
    }

    /// `mov $number, %eax; syscall`: the signal capture uses some of these calls.
    private func isCallOfOurs(_ index: Int) -> Bool {
        guard index + 1 < block.instructions.count else { return false }
        return block.instructions[index].loadsCallNumber
            && block.instructions[index + 1].isSystemCall
    }

    private func hasTarget(_ range: Range<UInt64>) -> Bool {
        Self.first(in: targets, from: range.lowerBound) < range.upperBound
    }

    private static func first(in sorted: [UInt64], from address: UInt64) -> UInt64 {
        let index = sorted.partitionIndex { $0 >= address }
        return index < sorted.count ? sorted[index] : .max
    }
}

extension Instruction {
    fileprivate var isCall: Bool {
        switch kind {
        case .call, .indirectCall: true
        default: false
        }
    }
}
