import Agent
import Architecture
import CAgent
import Glibc
import Images
import ProcessIO
import ProfileModel
import System

/// Brings the area into a running program. One of the program's own threads does so, from wherever
/// we stopped it.
struct AgentJoin: SessionPart {
    let context: SessionContext
    let diversion: ThreadDiversion
    let harm: StopHarm
    let signposts: SignpostReports
    let requests: StopRequests
    let resumption: ThreadResumption
    let stopper: ThreadStopper
    let patcher: CodePatcher
    let agentSetup: AgentSetup
    let earlierAgents: EarlierAgentRemoval

    /// Called with a thread stopped by us. If it is time, stacks are taken by signal from now on,
    /// or a note says why not.
    func joinIfDue(by thread: TracedThread, at now: MonotonicTime) {
        guard !context.isAwaitingStop, let image = stage.imageToJoin,
            let position = try? thread.tracee.resumeAddress(),
            // Our code naps. This would overwrite what the kernel needs to restart a call.
            diversion.examine(thread, at: position), !thread.tracee.isInCall,
            !resumption.callOffLateStop(thread),
            !harm.mayHarmOthers(thread)
        else { return }
        do throws(SetupFailure) {
            try join(image, by: thread)
        } catch {
            giveUpJoining(because: error)
        }
    }

    private func giveUpJoining(because error: SetupFailure) {
        // A thread that was diverted already returns by itself.
        if case .obstacle(.unmapped) = error, stage.failToSettle() { return }
        stage.settle()
        guard case .obstacle(let kind) = error else { return }
        note(kind)
        context.capture = .ptrace
        context.abandonMarks()
    }

    /// Called at a tick: continues an entry whose thread had no core before.
    func completeEntry(at now: MonotonicTime) {
        guard case .settling(let image, _) = stage, let entry = image.entry else { return }
        do throws(SetupFailure) {
            try advanceEntry(of: image)
        } catch {
            return giveUpJoining(because: error)
        }
        guard image.entry != nil, now - entry.since > Self.entryPatience else { return }
        // Nothing else is tried: the thread may still arrive at any time.
        stage.settle()
        giveUpJoining(because: .obstacle(.unmapped))
    }

    private func advanceEntry(of image: RunningImage) throws(SetupFailure) {
        guard let entry = image.entry else { return }
        guard lookForArrival(image) else {
            guard hasLeft(entry) else { return }
            patcher.emptyCave(of: image)
            image.entry = nil
            throw .obstacle(.unmapped)
        }
        guard image.entry?.area?.isSettled != false || !entry.isOpen,
            let led = threads[entry.tid], let others = stopper.stopAllOthers(than: led)
        else { return }
        let held = process.now
        defer {
            for other in others { resumption.release(other) }
            context.noteHold(from: held, to: process.now)
        }
        try finishEntry(of: image)
    }

    /// Called when the recording is over. A thread that was diverted to bring our code in arrives
    /// as soon as it has a core. We let it enter, because the area that it brings can then be
    /// removed.
    func awaitEntry(by deadline: MonotonicTime) {
        guard let image = stage.image else { return }
        while image.entry != nil, context.outcome == nil {
            do throws(SetupFailure) { try advanceEntry(of: image) } catch { break }
            guard process.now < deadline, !context.isCalledOff else { break }
            context.pause(microseconds: 200)
        }
        // The thread may arrive at any time. If it is there and waits, it stops waiting after a
        // moment and continues.
        if let entry = image.entry, entry.area == nil || entry.isOpen { context.noteLeftBehind() }
    }

    /// At the end: no thread ever had enough CPU time for our code to enter. A thread that waited
    /// all the time needed no core.
    func noteMissedEntry() {
        guard case .settling(let image, _) = stage else { return }
        if image.entry != nil || context.isProgramStopped
            || threads.values.contains(where: stopper.isRunning)
        {
            note(.lateEntry)
        }
    }

    /// A program may be throttled, stopped by a signal, or without a core for another reason.
    private static let entryPatience = TimeSpan.milliseconds(5000)

    /// True if the diverted thread has made the memory and mapped all of it: first comes the
    /// descriptor, then the mapping, then the right to execute. All must be there before calls are
    /// hooked. A thread that waits in a call is not stopped, and would enter our code at its next
    /// call.
    private func lookForArrival(_ image: RunningImage) -> Bool {
        guard let entry = image.entry else { return false }
        let isMapped = isCode(at: entry.contents.place)
        if entry.area == nil {
            image.entry?.area = openMemory(as: entry.descriptor) ?? (isMapped ? findMemory() : nil)
        }
        return image.entry?.area != nil && isMapped
    }

    private func openMemory(as descriptor: Int32) -> AgentMemory? {
        AgentMemory(of: process, descriptor: descriptor, stackBytes: options.stackBytes)
    }

    /// If another thread has just opened a file, the memory has another number than expected.
    private func findMemory() -> AgentMemory? {
        let numbers = process.descriptors(of: EarlierAgent.path)
        return numbers.lazy.compactMap { self.openMemory(as: $0) }.first
    }

    /// True if the thread waited in the memory in vain and closed it before we found it.
    private func hasLeft(_ entry: PendingEntry) -> Bool {
        EarlierAgent.all(in: process).contains { $0.isLeft && $0.start == entry.contents.place }
    }

    private func join(_ image: RunningImage, by thread: TracedThread) throws(SetupFailure) {
        func findSites() -> CallSites {
            CallSites.find(in: observer.mappings.code, memory: process.memory)
        }
        var sites = findSites()
        let start = ImageStart(of: process)
        let held = process.now
        defer { context.noteHold(from: held, to: process.now) }
        guard var others = stopper.stopOthers(than: thread) else { throw .obstacle(.unmapped) }
        defer { for other in others { resumption.release(other) } }
        earlierAgents.clearCave(start, stopped: others + [thread])
        if try earlierAgents.takeOver(by: thread, &others) { sites = findSites() }
        guard sites[.sigaction] != nil else { throw .obstacle(.noCallSite) }
        // Check again now that no thread runs: a moment ago one may have been about to set an
        // action.
        let signal = try agentSetup.checkTarget()
        if thread.isFiltered { throw .obstacle(.filtered) }
        let size = AgentMemory.size(stackBytes: options.stackBytes)
        guard let place = start.place(size: size), let cave = start.anyCave
        else { throw .obstacle(.noRoom) }
        var contents = AgentMemory.Contents(
            place: place, recorder: context.sharesNamespace ? getpid() : 0,
            cookie: SharedSlots.makeCookie())
        contents.signal = signal
        contents.spare = AgentSetup.spare(besides: signal.number)
        let objects =
            start.linker.map { LinkMap.objects(debug: $0.debug, memory: process.memory) }
        contents.known = objects?.count ?? 0
        if let linker = start.linker, linker.isConsistent(process.memory) {
            contents.listen(to: linker)
        }
        if marks != nil {
            contents.island = start.islandPlace(besides: place..<(place &+ UInt64(size))) ?? 0
        }
        let number = process.lowestFreeDescriptor()
        let code = AgentCode.boot(
            descriptor: nil, place: place, size: size, isAtEntry: false,
            recorder: contents.recorder)
        guard patcher.putPiece(code, at: cave, in: image) else { throw .obstacle(.unmapped) }
        try SetupFailure.attempt { () throws(SystemError) in _ = try thread.tracee.divert(to: cave)
        }
        try SetupFailure.attempt { () throws(SystemError) in try thread.tracing.detach() }
        thread.goOn()
        image.entry = PendingEntry(
            tid: thread.tid, since: process.now, descriptor: number, contents: contents,
            sites: sites, linker: start.linker, objects: objects ?? [],
            loneProgram: start.isRelocated ? start.loneProgram : nil)
        // If the thread has no core yet, the others run on, and ticks take care of the entry.
        if context.wait(atMost: .milliseconds(10), every: 20, until: { lookForArrival(image) }) {
            try finishEntry(of: image)
        }
    }

    /// Completes the entry: the diverted thread waits in the area, and all other running threads
    /// are stopped.
    private func finishEntry(of image: RunningImage) throws(SetupFailure) {
        guard var entry = image.entry, let area = entry.area else { return }
        if !area.isAbandoned, !entry.isOpen {
            // Another thread may have set an action since. (The diverted thread itself blocks all
            // signals.)
            guard let status = process.status else { throw .gone }
            guard let signal = entry.contents.signal?.number, !status.catches(signal) else {
                throw .obstacle(.ownHandler)
            }
            entry.contents.signal?.original = status.ignores(signal) ? 1 : 0
            area.fill(entry.contents)
            // Only the program itself can ask what its handlers block.
            if status.hasHandlers { area.set(\.handlers_block, UInt32(FL_HANDLERS_UNKNOWN)) }
        }
        var setup = Instrumentation.Setup()
        setup.loneProgram = entry.loneProgram
        // If the area was not filled in, no call may lead to it.
        let changed =
            area.isAbandoned
            ? [:] : change(entry.sites, entry.linker, entry.contents, area, &setup)
        entry.isOpen = entry.isOpen || area.open()
        image.entry = entry
        // The thread is there, and has had a core a moment ago.
        let isSettled =
            entry.isOpen
            && context.wait(atMost: ThreadStopper.stopPatience, every: 20) { area.isSettled }
        if !isSettled {
            for (address, word) in changed { patcher.putBack(word, at: address) }
            if entry.isOpen { return }
        }
        // The thread no longer needs the piece of code.
        patcher.emptyCave(of: image)
        image.entry = nil
        guard isSettled else { throw .obstacle(.unmapped) }
        agentSetup.use(area, entry.contents, setup, in: image)
        image.instrumentation?.sites = Set(entry.sites.places)
        marks?.spaces = area.makeTrampolineSpaces()
        if image.untraced == nil { context.followFromOutside(image) }
        marks?.pending = entry.loneProgram.map { [$0.object] } ?? entry.objects
        signposts.switchOnSignposts(of: signposts.images(of: entry.objects, process.memory))
        stage.settle()
    }

    private func isCode(at place: UInt64) -> Bool {
        ImageStart(of: process).mappings.contains { $0.start == place && $0.isExecutable }
    }

    /// Hooks the C library's calls and the linker's hook. No thread runs there, but a waiting one
    /// may wake up, so all that our code needs is written first.
    ///
    /// - Returns: the original words.
    private func change(
        _ sites: CallSites, _ linker: DynamicLinker?, _ contents: AgentMemory.Contents,
        _ area: AgentMemory,
        _ setup: inout Instrumentation.Setup
    ) -> [UInt64: UInt64] {
        var changed = patcher.lead(sites, past: area)
        if let linker, contents.debug != 0,
            EmptyFunction.hasRoomForJump(
                process.memory.read(at: linker.debugState, count: 16)),
            let word = patcher.lead(linker.debugState, to: area.position(Int(AgentCode.debugState)))
        {
            changed[linker.debugState] = word
            area.setHook(at: linker.debugState, word: word)
            setup.linkerHook = (linker.debugState, word)
        }
        return changed
    }
}

/// The entry of the area into a running program: a diverted thread does it when it gets a core.
struct PendingEntry {
    let tid: Int32
    let since: MonotonicTime
    /// The number that the memory's descriptor will have.
    let descriptor: Int32
    var contents: AgentMemory.Contents
    let sites: CallSites
    let linker: DynamicLinker?
    let objects: [LinkedObject]
    /// Set for a static program.
    var loneProgram: LoneProgram?
    /// nil: not seen yet.
    var area: AgentMemory?
    /// True if the area was filled in, and the thread will use it.
    var isOpen = false
}
