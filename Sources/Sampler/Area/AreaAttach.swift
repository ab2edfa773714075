import Glibc
import ProfileModel

/// Brings the area into a program that runs already, by one of its own threads, from wherever that
/// was stopped.
extension TraceSession {
    /// With a thread stopped by us: if it is time, stacks are taken by signal from now on, or it is
    /// noted why not.
    func joinIfDue(by thread: TracedThread, at now: MonotonicTime) {
        guard !isAwaitingStop, case .settling(let image, _) = stage,
            let position = try? thread.tracee.resumeAddress(),
            // A nap would take the place of what a call's restart needs.
            canBeLedAway(thread, at: position), !thread.tracee.isInCall
        else { return }
        do throws(SetupFailure) {
            try join(image, by: thread)
            stage.settle()
        } catch {
            // Led away already, it finds its own way back.
            if case .obstacle(.unmapped) = error, stage.failToSettle() { return }
            stage.settle()
            guard case .obstacle(let kind) = error else { return }
            note(kind)
            capture = .ptrace
            abandonMarks()
        }
    }

    private func join(_ image: RunningImage, by thread: TracedThread) throws(SetupFailure) {
        func findSites() -> CallSites {
            CallSites.find(in: observer.mappings.code, memory: TargetMemory(pid: pid))
        }
        var sites = findSites()
        let start = ImageStart(pid: pid)
        let held = MonotonicTime.now
        defer { noteHold(from: held, to: .now) }
        guard let others = stopOthers(than: thread) else { throw .obstacle(.unmapped) }
        defer { for other in others { release(other) } }
        if try takeOver(by: thread) { sites = findSites() }
        guard sites[.sigaction] != nil else { throw .obstacle(.noCallSite) }
        // Now that nobody runs: a moment ago somebody may have been about to set an action.
        let signal = try checkTarget()
        if isFiltered(thread) { throw .obstacle(.filtered) }
        let size = Area.size(stackBytes: options.stackBytes)
        guard let place = start.place(size: size), let cave = start.anyCave
        else { throw .obstacle(.noRoom) }
        var contents = Area.Contents(
            place: place, recorder: sharesNamespace ? getpid() : 0,
            cookie: SharedSlots.makeCookie())
        contents.signal = signal
        contents.spare = Self.spare(besides: signal.number)
        let objects =
            start.linker.map { LinkMap.objects(debug: $0.debug, memory: TargetMemory(pid: pid)) }
        contents.known = objects?.count ?? 0
        if let linker = start.linker, linker.isConsistent(TargetMemory(pid: pid)) {
            contents.debug = linker.debug
        }
        if marks != nil {
            contents.island = start.islandPlace(besides: place..<(place &+ UInt64(size))) ?? 0
        }
        let number = process.lowestFreeDescriptor()
        let code = AreaCode.boot(descriptor: nil, place: place, size: size, isAtEntry: false)
        guard putPiece(code, at: cave, in: image) else { throw .obstacle(.unmapped) }
        try attempt { () throws(SystemError) in _ = try thread.tracee.divert(to: cave) }
        try attempt { () throws(SystemError) in try thread.tracee.detach() }
        thread.isTraced = false
        thread.phase = .free
        var made: Area?
        wait(atMost: .milliseconds(10), every: 20) {
            made = Area(pid: pid, descriptor: number, stackBytes: options.stackBytes)
            return made != nil
        }
        // The descriptor comes before the memory, and that before the right to execute it. Whoever
        // waits in a call is not stopped, and would go into our code as soon as it is led there.
        guard let made, wait(atMost: .milliseconds(10), every: 20, until: { isCode(at: place) })
        else { throw .obstacle(.unmapped) }
        made.fill(contents)
        var setup = Instrumentation.Setup()
        let changed = change(sites, start.linker, contents, made, &setup)
        guard made.open(), wait(atMost: .milliseconds(50), every: 20, until: { made.isSettled })
        else {
            for (address, word) in changed { putBack(word, at: address) }
            throw .obstacle(.unmapped)
        }
        emptyCave(of: image)
        use(made, contents, setup, in: image)
        image.instrumentation?.sites = Set(sites.places)
        marks?.spaces = made.makeTrampolineSpaces()
        if image.untraced == nil { followFromOutside(image) }
        marks?.pending = objects ?? []
        switchOnSignposts(of: images(of: objects ?? [], TargetMemory(pid: pid)))
    }

    private func isCode(at place: UInt64) -> Bool {
        ImageStart(pid: pid).mappings.contains { $0.start == place && $0.isExecutable }
    }

    /// Leads the C library's calls and the linker's hook past us. Nobody runs there, but
    /// who waits may wake up: what our code needs is there first.
    ///
    /// - Returns: what was there.
    private func change(
        _ sites: CallSites, _ linker: DynamicLinker?, _ contents: Area.Contents, _ area: Area,
        _ setup: inout Instrumentation.Setup
    ) -> [UInt64: UInt64] {
        var changed: [UInt64: UInt64] = [:]
        for call in CallSites.Call.allCases {
            guard let site = sites[call], let word = TargetMemory(pid: pid).word(at: site)
            else { continue }
            area.setReturn(of: call, to: site &+ 7, word: word)
            guard lead(site, to: area.position(Int(AreaCode.standIn(for: call)))) != nil else {
                area.forgetReturn(of: call)
                continue
            }
            changed[site] = word
        }
        if let linker, contents.debug != 0,
            LinkerHook.isEmptyFunction(
                TargetMemory(pid: pid).read(at: linker.debugState, count: 16)),
            let word = lead(linker.debugState, to: area.position(Int(AreaCode.debugState)))
        {
            changed[linker.debugState] = word
            setup.linkerHook = (linker.debugState, word)
        }
        return changed
    }

    /// A jump takes the place of the first five bytes there. Returns what was there.
    func lead(_ address: UInt64, to target: UInt64) -> UInt64? {
        guard let word = TargetMemory(pid: pid).word(at: address),
            let jump = LinkerHook.jump(from: address, to: target),
            putBack(word & ~0xFF_FFFF_FFFF | jump, at: address)
        else { return nil }
        return word
    }

    @discardableResult
    func putBack(_ word: UInt64, at address: UInt64) -> Bool {
        TargetMemory(pid: pid).write([word], at: address)
    }
}
