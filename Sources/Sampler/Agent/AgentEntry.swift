import Agent
import CAgent
import Glibc
import Images
import ProcessIO
import ProfileModel
import System

/// Brings the area into a new image whose first thread is stopped at its first instruction. A
/// launch has no other stop, unless our bootstrap must replace the entry code: our code in the
/// program notes all that happens later.
struct AgentEntry: SessionPart {
    let context: SessionContext
    let stopper: ThreadStopper
    let patcher: CodePatcher
    let agentSetup: AgentSetup

    /// - Returns: when the program's own first instruction was executed, as far as known.
    func enter(
        _ image: RunningImage, at start: ImageStart, _ next: NextImage, by main: TracedThread,
        at now: MonotonicTime
    ) -> MonotonicTime {
        // If another file has that number, it is the program's own.
        var inherited = next.area.flatMap {
            next.knownAction != nil || $0.area.isOpen(in: process, as: $0.descriptor) ? $0 : nil
        }
        let area: AgentMemory
        do throws(SetupFailure) {
            area = try bringIn(
                image, at: start, by: main, &inherited,
                signal: try agentSetup.checkTarget(known: next.knownAction), next.sites)
        } catch {
            if case .obstacle(let kind) = error {
                note(kind)
                context.capture = .ptrace
                context.abandonMarks()
                // A filter might kill the program for this.
                if kind != .filtered { inherited?.discard(by: main.tracee, of: process) }
            }
            letGo(main, running: image)
            return now
        }
        context.wait(atMost: .milliseconds(5), every: 20) {
            passOnStops(of: main)
            return area.isSettled || area.isAbandoned
        }
        giveUpEntry(of: image)
        guard area.isSettled else { return now }
        patcher.emptyCave(of: image)
        writePatches(of: image)
        return area.time(\.settled_ns).map { min(max($0, now), process.now) } ?? now
    }

    /// Our code writes through `/proc`, which the program's root may lack.
    private func writePatches(of image: RunningImage) {
        guard let code = image.instrumentation, code.area.lacksPatches else { return }
        let start = process.now
        context.wait(atMost: .milliseconds(20), every: 20) {
            code.area.write(code.patches, process.memory)
        }
        context.noteHold(from: start, to: process.now)
    }

    /// Gives up where our code turned out to have no place in the program. The program then runs without
    /// it and untraced: from now on its stacks are taken by stops.
    func giveUpEntry(of image: RunningImage) {
        guard image.instrumentation?.area.isAbandoned == true else { return }
        image.instrumentation = nil
        observer.ownCode = nil
        note(.unmapped)
        context.capture = .ptrace
        context.abandonMarks()
    }

    /// Releases a thread, or resumes it under observation, depending on how stacks are taken.
    private func letGo(_ main: TracedThread, running image: RunningImage) {
        if context.capture == .untraced || !image.mayBeTraced {
            main.tracing.letGo()
            // The kernel may have placed the thread on our core, where it waits until we sleep.
            process.pause(microseconds: 1)
            context.followFromOutside(image)
        } else {
            try? main.tracee.resume()
        }
        main.goOn()
    }

    /// - Parameters:
    ///   - inherited: the memory that the process has already; nil once it has been used.
    ///   - signal: the signal for stacks, and its present action.
    ///   - sites: the call sites found in the program's file.
    private func bringIn(
        _ image: RunningImage, at start: ImageStart, by main: TracedThread,
        _ inherited: inout InheritedAgent?, signal: (number: Int32, original: UInt64),
        _ sites: PreparedSites?
    ) throws(SetupFailure) -> AgentMemory {
        guard start.vector.entry != 0 else {
            context.noteIfNarrow()
            throw .gone
        }
        image.noted = start.noted
        let size = AgentMemory.size(stackBytes: options.stackBytes)
        // Where events can be had, signals find threads in their own code only, and few of them.
        // With musl we cannot recognise calls that our signal ends.
        let makesAlternates =
            context.capture == .untraced && context.sharesNamespace && EventAvailability.areRefused
            && start.linker?.isMusl != true
        let whole = makesAlternates ? size + AlternateStacks.roomForAll : size
        guard let place = start.place(size: whole) else { throw .obstacle(.noRoom) }
        var contents = AgentMemory.Contents(
            place: place, recorder: context.sharesNamespace ? getpid() : 0,
            cookie: SharedSlots.makeCookie())
        var setup = Instrumentation.Setup(linker: start.linker)
        let memory = process.memory
        setup.linkerHook = start.linker.flatMap { contents.takeHook(of: $0, memory) }
        let isThere = start.hasCLibrary
        let ownSites = isThere ? start.ownSites(sites) : .unknown
        if context.capture == .untraced,
            isThere ? ownSites[.sigaction] == nil : setup.linkerHook == nil
        {
            // The program could set an action without our seeing it. Where the linker does not
            // report, nothing shows when the C library is mapped.
            note(.noCallSite)
        } else if context.capture == .untraced {
            contents.signal = signal
            contents.spare = AgentSetup.spare(besides: signal.number)
            contents.makesAlternates = makesAlternates
            contents.sites = isThere ? nil : CallSites.ofOwnLibrary ?? .unknown
        }
        start.fillMain(into: &contents)
        start.fillInitializers(into: &contents, ofFile: process.programFile)
        contents.takeEntry(of: start, hasHook: setup.linkerHook != nil, main.tracee)
        let needsIsland = marks != nil
        if needsIsland {
            contents.island =
                start.islandPlace(besides: place..<(place &+ UInt64(whole))) ?? 0
        }
        // A program that the linker was asked to run is found once the linker has mapped it.
        setup.runsLinker = start.runsLinker
        contents.isGated =
            needsIsland || start.runsLinker || start.program.map(hasSignposts) == true
        contents.gatesEntry = contents.isGated && start.isStatic
        setup.loneProgram = start.loneProgram
        setup.notesMain = start.notesMain(contents)

        let entry = try SetupFailure.attempt { () throws(SystemError) in
            try main.tracee.resumeAddress()
        }
        let piece = start.cave ?? entry
        let isAtEntry = piece == entry
        // Only memory that is there already needs no waiting.
        if isAtEntry, inherited == nil { throw .obstacle(.noRoom) }
        let handed = inherited
        // Before all other patches: musl names main in these bytes, and a call may be made there.
        if isAtEntry {
            contents.patches.insert(
                contentsOf: patches(keeping: AgentCode.pieceSize, at: entry), at: 0)
        }
        contents.lead(ownSites, of: CallSites.Call.allCases, memory)
        let code = AgentCode.boot(
            descriptor: handed?.descriptor, place: place, size: size, isAtEntry: isAtEntry,
            recorder: contents.recorder)
        let own = handed.map { $0.area }
        own?.fill(contents)
        own.map { _ = $0.open() }
        guard patcher.putPiece(code, at: piece, in: image) else { throw .obstacle(.unmapped) }
        inherited = nil
        if isAtEntry { image.cave = nil }
        let expected = own == nil ? process.lowestFreeDescriptor() : 0
        let before = try SetupFailure.attempt { () throws(SystemError) in
            try main.tracee.divert(to: piece)
        }
        if isAtEntry {
            try? main.tracee.resume()
        } else {
            letGo(main, running: image)
        }
        let area: AgentMemory
        if let own {
            area = own
        } else {
            area = try takeMade(by: main, number: expected, contents)
        }
        if isAtEntry { try leaveEntry(main, before, area, contents, of: image) }
        agentSetup.use(area, contents, setup, in: image)
        return area
    }

    private func hasSignposts(_ program: LoadedImage) -> Bool {
        !SignpostLocator(program).states().isEmpty
    }

    /// The patches that restore the code which a piece of ours replaces.
    private func patches(keeping size: Int, at address: UInt64) -> [AgentMemory.Patch] {
        let code = process.memory.read(at: address, count: size)
        return stride(from: 0, to: code.count - 7, by: 8).compactMap { offset in
            code.littleEndianWord(at: offset).map {
                AgentMemory.Patch.restoring($0, at: address &+ UInt64(offset))
            }
        }
    }

    /// Takes over the area that a thread of the program makes; the thread waits for that.
    private func takeMade(
        by main: TracedThread, number: Int32, _ contents: AgentMemory.Contents
    ) throws(SetupFailure) -> AgentMemory {
        var made: AgentMemory?
        let run = main.counters()?.run
        var latest: MonotonicTime?
        context.wait(atMost: ThreadStopper.stopPatience, every: 20) {
            passOnStops(of: main)
            made = AgentMemory(of: process, descriptor: number, stackBytes: options.stackBytes)
            // On a busy machine the thread may get no core for long.
            if latest == nil, main.counters()?.run != run {
                latest = process.now + Self.patienceWithCore
            }
            return made != nil || latest.map { process.now > $0 } == true
        }
        guard let made else { throw .obstacle(.unmapped) }
        made.fill(contents)
        guard made.open() else { throw .obstacle(.unmapped) }
        return made
    }

    /// How long a thread with a core may take for its memory.
    private static let patienceWithCore = TimeSpan.milliseconds(10)

    /// If threads are traced, one may have been asked to stop just before its exec. It stops again
    /// inside our code, and nothing else would resume it. Whatever else happens to it (its next
    /// exec, its end) comes after this image has been announced.
    private func passOnStops(of main: TracedThread) {
        guard main.tracing.isTraced, context.postponed == nil,
            let event = process.nextReport(of: main.tid)?.event
        else { return }
        switch event {
        case .stopped: try? main.tracee.resume()
        case .signal(let number): try? main.tracee.resume(delivering: number)
        default: context.postponed = event
        }
    }

    /// For a bootstrap that replaced the entry code: the thread stays in our code until the entry
    /// code is restored.
    private func leaveEntry(
        _ main: TracedThread, _ before: Tracee.State, _ area: AgentMemory,
        _ contents: AgentMemory.Contents,
        of image: RunningImage
    ) throws(SetupFailure) {
        // If the memory cannot be mapped, the thread naps. It may have had no core yet.
        context.wait(atMost: ThreadStopper.stopPatience, every: 20) {
            area.isSettled || isNapping(main)
        }
        if area.isSettled { return stopBehindEntry(main, running: image) }
        main.tracing.beginLead()
        defer { main.tracing.endLead() }
        guard stopper.stopNow(main) != nil else { throw .gone }
        // It had no core before that.
        if area.isSettled { return letGo(main, running: image) }
        // The memory could not be mapped.
        for patch in contents.patches where patch.isRestoring {
            patcher.putBack(patch.word, at: patch.address)
        }
        try SetupFailure.attempt { () throws(SystemError) in try main.tracee.restore(before) }
        throw .obstacle(.unmapped)
    }

    /// The thread is about to leave our code, where all signals are blocked. It has to stop once
    /// more so that we can detach. If it cannot do so without harm, it stays traced until it can.
    private func stopBehindEntry(_ main: TracedThread, running image: RunningImage) {
        var isStopped = false
        context.wait(atMost: .milliseconds(5), every: 50) {
            isStopped = stopper.stopNow(main) != nil
            return isStopped || !main.tracing.isTraced || main.phase == .exited
                || context.postponed != nil
        }
        if isStopped {
            letGo(main, running: image)
        } else if context.capture == .untraced || !image.mayBeTraced {
            context.followFromOutside(image)
        }
    }

    private func isNapping(_ thread: TracedThread) -> Bool {
        guard case .blocked(35, _) = thread.activity() else { return false }  // nanosleep
        return true
    }
}
