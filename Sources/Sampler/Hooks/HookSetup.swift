import CSystem
import ProfileModel

/// Puts our code around the program's initialisers, and takes it away again.
extension TraceSession {
    /// With the first thread stopped where all libraries are relocated and none has been
    /// initialised: lists them, and sees to it that their initialisers are timed.
    func hookInitializers(by thread: TracedThread, at now: MonotonicTime) {
        guard let watch, let linker = watch.linker else { return }
        let memory = TargetMemory(pid: pid)
        libraries = LibraryList(linker)
        reportLibraries(since: watch.mappingBegan ?? now, isInitial: true)
        let objects = LinkMap.objects(debug: linker.debug, memory: memory)
        let plan = InitializerPlan(objects, memory: memory)
        let images = images(of: objects, memory)
        let hasSignposts = images.contains { !SignpostLocator($0).states().isEmpty }
        guard plan.isWorthwhile || hasSignposts || marks != nil, watch.agent.canSample,
            obtainHooks(plan.sites, objects.count, linker, by: thread, watch.agent)
        else { return }
        try? hooks?.arm(by: thread.tracee)
        switchOnSignposts(of: images)
        marks?.pending = objects
        placeMarks(whileNobodyRuns: true)
    }

    /// When the capture by signal is due, if there was no need for our code before. It must be
    /// there first: two mappings must not be made at once.
    ///
    /// - Returns: whether it is being made.
    func hookLate(by thread: TracedThread, _ agent: Agent) -> Bool {
        let memory = TargetMemory(pid: pid)
        guard hooks == nil, !hasTriedHooks, let linker = libraries?.linker,
            linker.isConsistent(memory)
        else { return false }
        hasTriedHooks = true
        reportLibraries(since: .now, isInitial: false)
        let objects = LinkMap.objects(debug: linker.debug, memory: memory)
        guard obtainHooks([], objects.count, linker, by: thread, agent) else { return false }
        switchOnSignposts(of: images(of: objects, memory))
        marks?.pending = objects
        return true
    }

    private func obtainHooks(
        _ sites: [InitializerPlan.Site], _ known: Int, _ linker: DynamicLinker,
        by thread: TracedThread, _ agent: Agent
    ) -> Bool {
        let records = marks?.records ?? []
        let layout = HookArea.Layout(initializers: sites.count, marks: records.count)
        guard let mapping = obtainArea(size: layout.size, by: thread, agent),
            let area = HookArea(
                pid: pid, descriptor: mapping.descriptor, address: mapping.address, layout: layout)
        else { return false }
        let inner = ProcessStatus(pid: pid)?.innerPID ?? pid
        area.fill(
            with: sites.map(\.function), pid: inner, agent: agent, debug: linker.debug, known: known
        )
        // Should we die from here on, area and thunks stay, and work.
        guard area.accept() else { return false }
        hooks = Hooks(
            area: area, sites: sites,
            signposts: area.makeSignposts(pid: inner, since: min(imageStart, .now)))
        if let marks {
            area.fillMarks(records)
            marks.spaces.append(area.makeTrampolineSpace())
        }
        return true
    }

    /// Lets a stopped thread make memory for code of ours, where that can do no harm.
    ///
    /// - Parameter place: where it should be; nil: anywhere.
    func obtainArea(
        size: Int, near place: UInt64? = nil, by thread: TracedThread, _ agent: Agent
    ) -> (descriptor: Int32, address: UInt64)? {
        guard let status = ProcessStatus(pid: pid),
            !status.isFiltered(beyond: SignalCapture.ownFilters),
            fl_file_size_limit(pid) >= size, fl_address_space_limit(pid) == .max,
            let position = try? thread.tracee.resumeAddress(),
            canBeLedAway(thread, at: position), !thread.tracee.isInCall
        else { return nil }
        return try? letMap(
            thread, agent,
            { () throws(SystemError) in
                try agent.prepareArea(size: size, near: place, by: thread.tracee)
            })
    }

    /// With the capture by signal, which knows of filters for system calls: from now on the linker
    /// tells our code what it loads. A jump takes the place of its hook, which has 16 bytes to
    /// itself. Nobody else runs.
    func hookLinker(by thread: TracedThread) {
        guard let area = hooks?.area, let linker = libraries?.linker else { return }
        let code = TargetMemory(pid: pid).read(at: linker.debugState, count: 16)
        guard let jump = LinkerHook.jump(from: linker.debugState, to: area.debugState),
            LinkerHook.isEmptyFunction(code), let first = code.littleEndianWord(at: 0)
        else { return }
        let word = first & ~0xFF_FFFF_FFFF | jump
        do throws(SystemError) {
            try thread.tracee.write(words: [word], at: linker.debugState)
            hooks?.linkerHook = (linker.debugState, [first])
        } catch {
            return
        }
    }

    /// At `main`, where nobody would tell us of filters for system calls: only signposts go on.
    func leaveInitializers(by thread: TracedThread) {
        abandonMarks()
        if hooks?.signposts.isOn == true {
            try? hooks?.disarm(by: thread.tracee)
        } else {
            dropHooks(by: thread)
        }
    }

    /// At `main`: takes everything back.
    func dropHooks(by thread: TracedThread) {
        guard var dropped = hooks, let agent else { return }
        hooks = nil
        do throws(SystemError) {
            try dropped.disarm(by: thread.tracee)
            guard !switchOffSignposts(dropped.signposts), marks?.isPlaced != true else { return }
            try agent.removeArea(dropped.area.range, by: thread.tracee, waiting: false)
        } catch {
            note(.leftBehind)
        }
    }

    /// At the recording's end after `main`: one of the program's threads takes our code away.
    func removeHooks() {
        guard let removed = hooks, !removed.isArmed, let agent else { return }
        hooks = nil
        wait(atMost: .milliseconds(50)) { removed.area.isReady && !removed.isInUse }
        guard let thread = stopAny() else { return noteLeftBehind() }
        let others = stopOthers(than: thread)
        marks?.isUnused = isOutOfMarks(others + [thread], removed.area)
        do throws(SystemError) {
            if let (address, words) = removed.linkerHook {
                try thread.tracee.write(words: words, at: address)
            }
            // Who is in it must find it when it comes back; and it does no harm. So it is with
            // signposts and marks: somebody may be in the midst of one at any time.
            if switchOffSignposts(removed.signposts) || marks?.keepsArea == true {
                removed.signposts.releaseMemory()
            } else if removed.isInUse || !removed.area.isReady {
                note(.leftBehind)
            } else {
                let state = try agent.removeArea(
                    removed.area.range, by: thread.tracee, waiting: true)
                giveBack(state, to: thread, agent)
                if let island = marks?.island {
                    let state = try agent.removeArea(
                        island.range, by: thread.tracee, waiting: true)
                    giveBack(state, to: thread, agent)
                }
            }
        } catch {
            note(.leftBehind)
        }
        for other in others + [thread] { release(other) }
    }
}

/// The code of the dynamic linker's hook for debuggers.
enum LinkerHook {
    /// Whether it does nothing: `ret`, behind a mark for indirect branches or not.
    static func isEmptyFunction(_ code: [UInt8]) -> Bool {
        let rest = code.starts(with: [0xF3, 0x0F, 0x1E, 0xFA]) ? code.dropFirst(4) : code[...]
        return rest.first == 0xC3
    }

    /// `jmp target`, as the low five bytes of a word; nil when it is too far.
    static func jump(from address: UInt64, to target: UInt64) -> UInt64? {
        let distance = Int64(bitPattern: target &- (address &+ 5))
        guard let short = Int32(exactly: distance) else { return nil }
        return 0xE9 | UInt64(UInt32(bitPattern: short)) << 8
    }
}
