import Architecture
import ProfileModel

/// Return addresses that a uretprobe has replaced by its trampoline's address. The kernel keeps the
/// true ones, where no other process can read them. But the caller's part of the stack begins right
/// behind, and limits the possible return addresses.
extension Unwinder {
    /// A place that called the probed function, if the stack fits.
    private struct CallSite {
        /// The return address.
        var address: UInt64
        /// The function with the call begins here.
        var function: UInt64
        /// The caller's frame ends where its caller's begins.
        var frame: UInt64
        var rule: UnwindRule
        /// Where the caller returns to; nil: it is a thread's entry function.
        var next: UInt64?
        /// True if ``next`` is behind a call of the caller, and not just behind a possible call of
        /// it.
        var isCertain = false
    }

    private enum Answer {
        case fits(CallSite)
        case isImpossible
        case isUnknown
    }

    /// Continues a walk that has reached unmapped code, if a uretprobe has led it there: at the
    /// only place that can have called the last frame's function. The tables say where such a
    /// caller's own return address lies, and that address must be behind a call of the caller. If
    /// this call is through a pointer, other files must not be able to call the probed function.
    ///
    /// - Returns: nil: the walk continues.
    func crossUretprobe(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        guard space.isUretprobe(walk.programCounter) else { return .truncated(.unmappedCode) }
        guard walk.count > 0, walk.count < Walk.frameLimit,
            let callee = space.range(of: walk.frames[walk.count &- 1]), let tables = callee.tables,
            let function = tables.functionStart(around: walk.frames[walk.count &- 1].lookup),
            let calls = tables.returnAddresses(ofCallsTo: function)
        else { return .truncated(.uretprobe) }
        var (sites, mayLackSome): ([CallSite], Bool) = ([], tables.exports(function))
        for address in calls {
            switch inspect(address &+ callee.bias, in: callee, walk, memory) {
            case .fits(let site): sites.append(site)
            case .isImpossible: break
            case .isUnknown: mayLackSome = true
            }
        }
        let certain = sites.filter(\.isCertain)
        if !certain.isEmpty || mayLackSome { sites = certain }
        guard let site = sites.first,
            sites.allSatisfy({
                $0.function == site.function && $0.frame == site.frame && $0.rule == site.rule
            })
        else { return .truncated(.uretprobe) }
        if sites.count == 1 {
            walk.move(toReturnAddress: site.address)
            return nil
        }
        // We do not know which of the caller's calls it is, but we know the function.
        walk.move(toInstruction: site.function)
        walk.append(module: callee.moduleNumber, bias: callee.bias)
        guard let next = site.next else { return .complete }
        if site.rule.framePointerOffset != UnwindRule.unchanged {
            let place = site.frame &+ UInt64(bitPattern: Int64(site.rule.framePointerOffset))
            walk.restoreFramePointer(memory.word(at: place), from: place)
        }
        walk.stackPointer = site.frame
        walk.move(toReturnAddress: next)
        return nil
    }

    /// - Parameter address: behind a call, in the process.
    private func inspect(
        _ address: UInt64, in range: AddressSpace.Range, _ walk: Walk, _ memory: StackMemory
    ) -> Answer {
        guard let function = range.tables?.functionStart(around: address &- 1 &- range.bias) else {
            return .isUnknown
        }
        let rule = rule(at: address &- 1, in: range)
        var site = CallSite(
            address: address, function: function &+ range.bias, frame: 0, rule: rule)
        let offset = UInt64(bitPattern: Int64(rule.cfaOffset))
        switch rule.kind {
        case .end: return .fits(site)
        case .fromStackPointer: site.frame = walk.stackPointer &+ offset
        case .fromFramePointer where walk.hasFramePointer: site.frame = walk.framePointer &+ offset
        default: return .isUnknown
        }
        guard site.frame > walk.stackPointer, site.frame & 7 == 0 else { return .isImpossible }
        guard let next = memory.word(at: site.frame &- 8) else {
            return site.frame > memory.end ? .isUnknown : .isImpossible
        }
        site.next = next
        if space.isUretprobe(next) { return .fits(site) }
        guard let index = space.rangeIndex(around: next &- 1) else { return .isImpossible }
        let outer = space.ranges[index]
        switch outer.tables?.call(
            of: site.function &- outer.bias, before: next &- outer.bias) ?? .isPossible
        {
        case .isImpossible: return .isImpossible
        case .isPossible: break
        case .isCertain: site.isCertain = true
        }
        return .fits(site)
    }
}
