internal import Architecture
internal import ProfileModel
internal import Symbolicate

/// A plan under construction: its runs may still grow.
struct ImagePlan {
    var runs: [MarkedRun] = []
    /// Addresses of probes' semaphores.
    var semaphores: [UInt64] = []
    var refusals: [MarkPlan.Refusal] = []
    /// The requests that match something here, refused or not.
    var found: Set<Int> = []

    /// The plan for an image that is loaded higher by `bias`.
    func finished(movedBy bias: UInt64) -> MarkPlan {
        var plan = MarkPlan()
        plan.semaphores = semaphores.map { $0 &+ bias }
        plan.refusals = refusals
        plan.found = found
        for run in runs.map({ $0.moved(by: bias) }) {
            let requests = Set(run.hooks.map { MarkHit.request(ofRecord: $0.record) })
            if let trampoline = run.trampoline {
                plan.changes.append(
                    MarkPlan.Change(start: run.start, requests: requests, trampoline: trampoline))
            }
        }
        return plan
    }
}

/// Makes the plan of an image, from its symbols and its code in memory.
struct ImagePlanner {
    /// The file's name; a request may name the library by it.
    let library: String
    /// Add this to an address in the file to get the one in the process.
    let bias: UInt64
    let code: ModuleCode
    /// Reads at most that many bytes of the process's memory.
    let read: (_ address: UInt64, _ count: Int) -> [UInt8]

    /// No name or probe reasonably has more places.
    static let mostPlaces = 256

    func plan(_ requests: [MarkRequest]) -> ImagePlan {
        var plan = ImagePlan()
        guard let disassembler = Disassembler() else { return plan }
        for (index, request) in requests.enumerated() {
            switch request.place {
            case .function(let name, let library, let isSpan):
                guard library == nil || library == self.library else { continue }
                for function in code.functions(named: name).prefix(Self.mostPlaces) {
                    plan.found.insert(index)
                    let marker = FunctionMarker(self, function, disassembler)
                    let refusal = marker.mark(&plan, request: index, isSpan: isSpan)
                    plan.note(refusal, request: index, place: function.name)
                }
            case .probe(let provider, let name):
                let sites = code.probes.filter { $0.provider == provider && $0.name == name }
                for site in sites.prefix(Self.mostPlaces) {
                    plan.found.insert(index)
                    let refusal = mark(site, &plan, request: index, disassembler)
                    plan.note(refusal, request: index, place: "\(provider):\(name)")
                }
            }
        }
        return plan
    }

    private func mark(
        _ site: ProbeSite, _ plan: inout ImagePlan, request: Int, _ disassembler: Disassembler
    ) -> MarkRefusal? {
        guard let stretch = code.stretch(around: site.address) else { return .unreadable }
        let block: CodeBlock
        do throws(MarkRefusal) {
            block = try self.block(stretch, disassembler)
        } catch {
            return error
        }
        let exits = exits(of: block, named: nil, disassembler)
        let address = site.address &+ bias
        guard let index = block.index(of: address), block.instructions[index].isProbeSite
        else { return .replaced }
        let finder = RunFinder(block: block, targets: exits.targets, borders: borders(block))
        var changed = plan
        let refusal = changed.add(finder, at: address, .init(request: request, event: .point))
        guard refusal == nil else { return refusal }
        plan = changed
        if let semaphore = site.semaphore, !plan.semaphores.contains(semaphore &+ bias) {
            plan.semaphores.append(semaphore &+ bias)
        }
        return nil
    }

    // MARK: Code

    /// The code in a range of the file, with addresses in the process.
    func block(
        _ range: Range<UInt64>, _ disassembler: Disassembler
    ) throws(MarkRefusal) -> CodeBlock {
        let start = range.lowerBound &+ bias
        let bytes = read(start, range.count + Self.behind)
        guard bytes.count >= range.count, let own = code.bytes(range) else { throw .unreadable }
        guard bytes.starts(with: own) else { throw .replaced }
        let block = CodeBlock(
            start..<(start &+ UInt64(range.count)), code: bytes,
            border: code.border(from: range.upperBound) &+ bias, disassembler)
        guard block.isComplete else { throw .unreadable }
        return block
    }

    /// No jump is longer.
    private static let behind = 16

    /// The borders around a block, with addresses in the process.
    func borders(_ block: CodeBlock) -> [UInt64] {
        let range = (block.range.lowerBound &- bias)...(block.range.upperBound &- bias &+ 16)
        return code.borders(in: range).map { $0 &+ bias }
    }

    /// - Parameter name: the function's name; nil: it is unknown, and the end does not matter.
    func exits(of block: CodeBlock, named name: String?, _ disassembler: Disassembler)
        -> FunctionExits
    {
        FunctionExits(
            block,
            tables: { instructions in
                JumpTables.destinations(
                    of: instructions, inside: { self.isSameFunction($0, as: block, name) },
                    read: read)
            },
            destination: { destination($0, from: name) },
            part: { range in
                try? self.block(
                    (range.lowerBound &- bias)..<(range.upperBound &- bias), disassembler)
            })
    }

    private func isSameFunction(_ address: UInt64, as block: CodeBlock, _ name: String?) -> Bool {
        if block.range.contains(address) { return true }
        if case .part = destination(address, from: name) { return true }
        return false
    }

    private func destination(_ address: UInt64, from name: String?) -> FunctionExits.Destination {
        let own = address &- bias
        if code.isStub(own) { return .function }
        let parts = code.parts(around: own)
        // Compilers move rarely needed code elsewhere, under the function's name.
        if let name, let part = parts.first(where: { $0.name.hasPrefix(name + ".cold") }) {
            return .part((part.range.lowerBound &+ bias)..<(part.range.upperBound &+ bias))
        }
        let isBeginning = parts.contains {
            $0.range.lowerBound == own && !$0.name.contains(".cold")
        }
        if isBeginning { return .function }
        return .unknown(
            code.stretch(around: own).map {
                ($0.lowerBound &+ bias)..<($0.upperBound &+ bias)
            })
    }
}

extension ImagePlan {
    fileprivate mutating func note(_ refusal: MarkRefusal?, request: Int, place: String) {
        guard let refusal else { return }
        refusals.append(MarkPlan.Refusal(request: request, place: place, reason: refusal))
    }

    /// Notes a record at an address, in an existing run or in a new one.
    mutating func add(
        _ finder: RunFinder, at address: UInt64, isEntry: Bool = false, _ record: MarkHit
    ) -> MarkRefusal? {
        let result = finder.run(
            noting: UInt32(truncatingIfNeeded: record.number), at: address, isEntry: isEntry,
            with: runs)
        switch result {
        case .failure(let refusal): return refusal
        case .success(let run):
            runs.removeAll { $0.start < run.end && run.start < $0.end }
            runs.append(run)
            return nil
        }
    }
}

/// Marks one function's entry, or both ends of its interval.
struct FunctionMarker {
    private let planner: ImagePlanner
    private let function: ModuleCode.Function
    private let disassembler: Disassembler

    init(
        _ planner: ImagePlanner, _ function: ModuleCode.Function, _ disassembler: Disassembler
    ) {
        self.planner = planner
        self.function = function
        self.disassembler = disassembler
    }

    /// Marks all places, or none.
    func mark(_ plan: inout ImagePlan, request: Int, isSpan: Bool) -> MarkRefusal? {
        guard !function.isIndirect else { return .indirect }
        let block: CodeBlock
        do throws(MarkRefusal) {
            block = try planner.block(function.range, disassembler)
        } catch {
            return error
        }
        let exits = planner.exits(of: block, named: function.name, disassembler)
        var changed = plan
        let finder = RunFinder(
            block: block, targets: exits.targets, borders: planner.borders(block))
        let event: MarkHit.Event = isSpan ? .begin : .point
        let entry = enter(&changed, finder, .init(request: request, event: event))
        guard entry == nil else { return entry }
        if isSpan, let refusal = leave(&changed, exits, request) { return .end(refusal) }
        plan = changed
        return nil
    }

    /// After a mark for indirect branches, if there is one and there is room.
    private func enter(
        _ plan: inout ImagePlan, _ finder: RunFinder, _ record: MarkHit
    ) -> MarkRefusal? {
        let block = finder.block
        let start = block.range.lowerBound
        guard let first = block.instructions.first else { return .unreadable }
        let beginnings = first.isLandingMark ? [start, first.end] : [start]
        guard !finder.targets.contains(where: beginnings.contains) else { return .loopsToEntry }
        if first.isLandingMark,
            plan.add(finder, at: first.end, isEntry: true, record) == nil
        {
            return nil
        }
        return plan.add(finder, at: start, isEntry: true, record)
    }

    private func leave(
        _ plan: inout ImagePlan, _ exits: FunctionExits, _ request: Int
    ) -> MarkRefusal? {
        if let refusal = exits.refusal { return refusal }
        for exit in exits.exits {
            guard let block = exits.blocks.first(where: { $0.range.contains(exit) }) else {
                return .unreadable
            }
            let finder = RunFinder(
                block: block, targets: exits.targets, borders: planner.borders(block))
            let refusal = plan.add(finder, at: exit, .init(request: request, event: .end))
            if let refusal { return refusal }
        }
        return nil
    }
}

/// The tables that compilers make for jumps of `switch` and computed `goto`.
enum JumpTables {
    /// No switch has more cases.
    private static let mostEntries = 4096

    /// The targets in all tables that the instructions refer to, up to the first entry that leads
    /// out of the given ranges; rather too many than too few.
    ///
    /// Two forms are known: distances of four bytes from the table, and addresses of eight.
    ///
    /// - Parameter read: reads bytes of memory; fewer if the memory ends.
    static func destinations(
        of instructions: [Instruction], inside isInside: (UInt64) -> Bool,
        read: (_ address: UInt64, _ count: Int) -> [UInt8]
    ) -> [UInt64] {
        var found: Set<UInt64> = []
        for table in Set(instructions.compactMap(\.table)) {
            // Most of these are no tables, and need not be read completely.
            guard !entries(of: table, read(table, 8), isInside).isEmpty else { continue }
            found.formUnion(entries(of: table, read(table, 4 * mostEntries), isInside))
        }
        return Array(found)
    }

    private static func entries(
        of table: UInt64, _ bytes: [UInt8], _ isInside: (UInt64) -> Bool
    ) -> [UInt64] {
        let distances = stride(from: 0, to: bytes.count - 3, by: 4).lazy.map {
            let distance = number(in: bytes, at: $0, count: 4)
            return table &+ UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: distance)))
        }
        let addresses = stride(from: 0, to: bytes.count - 7, by: 8).lazy.map {
            number(in: bytes, at: $0, count: 8)
        }
        return Array(distances.prefix(while: isInside)) + addresses.prefix(while: isInside)
    }

    private static func number(in bytes: [UInt8], at offset: Int, count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * $1) }
    }
}
