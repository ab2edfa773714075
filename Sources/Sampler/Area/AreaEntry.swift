import CAgent
import Glibc
import ProfileModel
import System

/// Why our code could not be had in the program.
enum SetupFailure: Error {
    case obstacle(RecorderNote.Kind)
    /// The thread is gone, or the program.
    case gone
}

/// Brings the area into a new image, with its first thread stopped at its first instruction. That
/// is the only stop of a launch, but where our bootstrap has to stand over the entry code: whatever
/// happens later is noted by our code in the program.
extension TraceSession {
    /// - Returns: when the program's own first instruction was executed, as far as that is known.
    func enter(
        _ image: RunningImage, at start: ImageStart, _ next: NextImage, by main: TracedThread,
        at now: MonotonicTime
    ) -> MonotonicTime {
        // Another file under that number is the program's own.
        var inherited = next.area.flatMap { $0.area.isOpen(in: pid, as: $0.descriptor) ? $0 : nil }
        let area: Area
        do throws(SetupFailure) {
            area = try bringIn(
                image, at: start, by: main, &inherited,
                signal: try checkTarget(known: next.knownAction), next.sites)
        } catch {
            if case .obstacle(let kind) = error {
                note(kind)
                capture = .ptrace
                abandonMarks()
                // A filter might kill for that.
                if kind != .filtered { inherited?.discard(by: main.tracee, of: pid) }
            }
            letGo(main, running: image)
            return now
        }
        wait(atMost: .milliseconds(5), every: 20) {
            passOnStops(of: main)
            return area.isSettled || area.isAbandoned
        }
        _ = giveUpEntry(of: image)
        guard area.isSettled else { return now }
        emptyCave(of: image)
        return area.time(\.settled_ns).map { min(max($0, now), .now) } ?? now
    }

    /// Whether our code turned out to have no place in the program, which runs without it, and is
    /// not traced: its stacks are taken by stops from now on.
    func giveUpEntry(of image: RunningImage) -> Bool {
        guard image.instrumentation?.area.isAbandoned == true else { return false }
        image.instrumentation = nil
        observer.ownCode = nil
        note(.unmapped)
        capture = .ptrace
        abandonMarks()
        return true
    }

    /// Lets a thread go on for good, or under observation, as stacks are taken.
    private func letGo(_ main: TracedThread, running image: RunningImage) {
        if capture == .signal || !image.mayBeTraced {
            try? main.tracee.detach()
            main.isTraced = false
            followFromOutside(image)
        } else {
            try? main.tracee.resume()
        }
        main.phase = .free
    }

    /// - Parameters:
    ///   - inherited: the memory that is there at once; nil when it has been used.
    ///   - signal: the one for stacks, and what it does so far.
    ///   - sites: what was found in the program's file.
    private func bringIn(
        _ image: RunningImage, at start: ImageStart, by main: TracedThread,
        _ inherited: inout InheritedArea?, signal: (number: Int32, original: UInt64),
        _ sites: PreparedSites?
    ) throws(SetupFailure) -> Area {
        guard start.vector.entry != 0 else { throw .gone }
        image.noted = start.noted
        let size = Area.size(stackBytes: options.stackBytes)
        guard let place = start.place(size: size) else { throw .obstacle(.noRoom) }
        var contents = Area.Contents(
            place: place, recorder: sharesNamespace ? getpid() : 0,
            cookie: SharedSlots.makeCookie())
        var setup = Instrumentation.Setup(linker: start.linker)
        let memory = TargetMemory(pid: pid)
        setup.linkerHook = start.linker.flatMap { contents.takeHook(of: $0, memory) }
        let isThere = start.hasCLibrary
        let ownSites = isThere ? start.ownSites(sites) : .unknown
        if capture == .signal, isThere ? ownSites[.sigaction] == nil : setup.linkerHook == nil {
            // It could set an action of its own without our knowing. Where the linker does not tell,
            // nobody says when the C library is there.
            note(.noCallSite)
        } else if capture == .signal {
            contents.signal = signal
            contents.spare = Self.spare(besides: signal.number)
            contents.sites = isThere ? nil : CallSites.ofOwnLibrary ?? .unknown
        }
        start.fillMain(into: &contents)
        start.fillInitializers(into: &contents, pid: pid)
        if setup.linkerHook == nil { contents.takeEntry(of: start, main.tracee) }
        let needsIsland = marks != nil
        if needsIsland {
            contents.island = start.islandPlace(besides: place..<(place &+ UInt64(size))) ?? 0
        }
        contents.isGated = needsIsland || start.program.map(hasSignposts) == true
        contents.gatesEntry = contents.isGated && start.isStatic
        setup.loneProgram = start.loneProgram
        setup.notesMain = start.notesMain(contents)

        let entry = try attempt { () throws(SystemError) in try main.tracee.resumeAddress() }
        let piece = start.cave ?? entry
        let isAtEntry = piece == entry
        // Only what is there at once cannot be waited for in vain.
        if isAtEntry, inherited == nil { throw .obstacle(.noRoom) }
        let handed = inherited
        // Before all others: musl names main there, and a call may be made there.
        if isAtEntry {
            contents.patches.insert(
                contentsOf: patches(keeping: AreaCode.pieceSize, at: entry), at: 0)
        }
        contents.lead(ownSites, of: CallSites.Call.allCases, memory)
        let code = AreaCode.boot(
            descriptor: handed?.descriptor, place: place, size: size, isAtEntry: isAtEntry,
            recorder: contents.recorder)
        let own = handed.map { $0.area }
        own?.fill(contents)
        own.map { _ = $0.open() }
        guard putPiece(code, at: piece, in: image) else { throw .obstacle(.unmapped) }
        inherited = nil
        if isAtEntry { image.cave = nil }
        let expected = own == nil ? process.lowestFreeDescriptor() : 0
        let before = try attempt { () throws(SystemError) in try main.tracee.divert(to: piece) }
        if isAtEntry {
            try? main.tracee.resume()
        } else {
            letGo(main, running: image)
        }
        let area: Area
        if let own {
            area = own
        } else {
            area = try takeMade(by: main, number: expected, contents)
        }
        if isAtEntry { try leaveEntry(main, before, area, contents, of: image) }
        use(area, contents, setup, in: image)
        return area
    }

    /// Writes a piece of ours where the program has no code of its own, and keeps what was there.
    func putPiece(_ code: [UInt8], at address: UInt64, in image: RunningImage) -> Bool {
        let before = TargetMemory(pid: pid).read(at: address, count: code.count)
        guard before.count == code.count, !AreaCode.isPiece(before),
            TargetMemory(pid: pid).write(code, at: address)
        else { return false }
        image.cave = FilledCave(address: address, before: before)
        return true
    }

    /// The thread is through with the piece: what was there is there again.
    func emptyCave(of image: RunningImage) {
        guard let cave = image.cave else { return }
        image.cave = nil
        TargetMemory(pid: pid).write(cave.before, at: cave.address)
    }

    private func hasSignposts(_ program: LoadedImage) -> Bool {
        !SignpostLocator(program).states().isEmpty
    }

    /// What puts back the code that a piece of ours takes the place of.
    private func patches(keeping size: Int, at address: UInt64) -> [Area.Patch] {
        let code = TargetMemory(pid: pid).read(at: address, count: size)
        return stride(from: 0, to: code.count - 7, by: 8).compactMap { offset in
            code.littleEndianWord(at: offset).map {
                Area.Patch.restoring($0, at: address &+ UInt64(offset))
            }
        }
    }

    /// Takes over the area that a thread of the program makes, which waits for that.
    private func takeMade(
        by main: TracedThread, number: Int32, _ contents: Area.Contents
    ) throws(SetupFailure) -> Area {
        var made: Area?
        wait(atMost: .milliseconds(10), every: 20) {
            passOnStops(of: main)
            made = Area(pid: pid, descriptor: number, stackBytes: options.stackBytes)
            return made != nil
        }
        guard let made else { throw .obstacle(.unmapped) }
        made.fill(contents)
        guard made.open() else { throw .obstacle(.unmapped) }
        return made
    }

    /// Where threads are traced, one may have been asked to stop just before its exec, and stops
    /// again on its way through our code: nobody else would let it go on. Whatever else happens to
    /// it (its next exec, its end) comes after this image has been announced.
    private func passOnStops(of main: TracedThread) {
        guard main.isTraced, postponed == nil,
            let event = process.nextReport(of: main.tid)?.event
        else { return }
        switch event {
        case .stopped: try? main.tracee.resume()
        case .signal(let number): try? main.tracee.resume(delivering: number)
        default: postponed = event
        }
    }

    /// Where the code that begins the program had to make room for ours: stays until it is back.
    private func leaveEntry(
        _ main: TracedThread, _ before: Tracee.State, _ area: Area, _ contents: Area.Contents,
        of image: RunningImage
    ) throws(SetupFailure) {
        // Where the memory cannot be mapped, the thread naps. It may have had no core as yet.
        wait(atMost: Self.stopPatience, every: 20) { area.isSettled || isNapping(main) }
        if area.isSettled { return stopBehindEntry(main, running: image) }
        main.isLed = true
        defer { main.isLed = false }
        guard stopNow(main) != nil else { throw .gone }
        // The memory could not be mapped.
        for patch in contents.patches where patch.isRestoring {
            putBack(patch.word, at: patch.address)
        }
        try attempt { () throws(SystemError) in try main.tracee.restore(before) }
        throw .obstacle(.unmapped)
    }

    /// The thread is about to leave our code, where all signals are blocked, and has to stop once more
    /// for not being traced any longer. If it never can without harm, it stays traced until it can.
    private func stopBehindEntry(_ main: TracedThread, running image: RunningImage) {
        var isStopped = false
        wait(atMost: .milliseconds(5), every: 50) {
            isStopped = stopNow(main) != nil
            return isStopped || !main.isTraced || main.phase == .exited || postponed != nil
        }
        if isStopped {
            letGo(main, running: image)
        } else if capture == .signal || !image.mayBeTraced {
            followFromOutside(image)
        }
    }

    private func isNapping(_ thread: TracedThread) -> Bool {
        guard case .blocked(35, _) = thread.activity() else { return false }  // nanosleep
        return true
    }
}

extension TraceSession {
    /// Everything is in place, or will be before anything of the program runs.
    func use(
        _ area: Area, _ contents: Area.Contents, _ setup: Instrumentation.Setup,
        in image: RunningImage
    ) {
        area.wasInherited()
        observer.ownCode = area.range
        if let marks { area.fillMarks(marks.records) }
        let signposts = area.makeSignposts(pid: innerPID, since: min(image.start, .now))
        let signals = contents.signal.map { _ in
            SignalCapture(
                pid: pid, slots: SharedSlots(area: area, cookie: contents.cookie),
                stackBytes: options.stackBytes)
        }
        let instrumentation = Instrumentation(
            area, setup, hooks: Hooks(area: area, signposts: signposts), signals: signals)
        instrumentation.sites = Set(contents.patches.filter { $0.call != nil }.map(\.address))
        image.instrumentation = instrumentation
    }
}

/// What the signal for stacks does, and whether our code may be in the program at all.
extension TraceSession {
    /// The signal for stacks, and what it does so far (0: the default, 1: ignored), if everything
    /// else allows for our code. That is one which the program leaves alone. One that is ignored
    /// stays so in programs that are executed, and with a handler it would not: it is the last
    /// choice.
    ///
    /// - Parameter known: what the first choice does, where nothing need be asked.
    func checkTarget(
        known: UInt64? = nil
    ) throws(SetupFailure) -> (number: Int32, original: UInt64) {
        if known == 0 { return (SIGURG, 0) }
        guard let status = ProcessStatus(pid: pid) else { throw .gone }
        if status.isFiltered(beyond: SignalCapture.ownFilters) { throw .obstacle(.filtered) }
        // Our pieces go back to where a thread was as no call has gone there.
        if status.hasShadowStack { throw .obstacle(.shadowStack) }
        let free = [SIGURG, Self.spareSignal].filter { status.leavesAlone($0) }
        guard let signal = free.first(where: { !status.ignores($0) }) ?? free.first else {
            throw .obstacle(.ownHandler)
        }
        guard Area.fits(process: pid, stackBytes: options.stackBytes) else {
            throw .obstacle(.limited)
        }
        return (signal, status.ignores(signal) ? 1 : 0)
    }

    /// Like SIGURG, it is ignored unless somebody wants it. Full-screen programs do.
    private static var spareSignal: Int32 { SIGWINCH }

    static func spare(besides signal: Int32) -> Int32 { signal == SIGURG ? spareSignal : 0 }

    /// The process's id, as it knows it itself.
    var innerPID: Int32 { ProcessStatus(pid: pid)?.innerPID ?? pid }

    func attempt<Value>(
        _ body: () throws(SystemError) -> Value
    ) throws(SetupFailure) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .gone
        }
    }
}
