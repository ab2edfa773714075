import CAgent
import ProfileModel
import System

/// Tells what our code in the program noted of the launch's borders, and does what must be done
/// where libraries are loaded and nothing has run.
extension TraceSession {
    /// Tells of borders that were reached since the last call.
    func reportBorders(at now: MonotonicTime) {
        guard let image = stage.image, let code = image.instrumentation else { return }
        if let gate = code.borders.gate(of: code.area) {
            noteHold(from: max(gate.start, image.start), to: min(gate.end, now))
        }
        while let (border, moment) = code.borders.next(of: code.area) {
            learnMappings(of: image, code.area, at: now)
            pass(border, moment, of: image, code, at: now)
        }
    }

    /// Whose code the border's stack is in: nobody may have looked since its libraries were there,
    /// and the process may be gone.
    private func learnMappings(of image: RunningImage, _ area: Area, at now: MonotonicTime) {
        guard let relocated = area.border(.relocated)?.time,
            observer.mappings.lastSeen < relocated
        else { return }
        observer.rereadMappings(at: now)
        guard observer.mappings.lastSeen < relocated else { return }
        observer.addMappings(area.notedLibraries.flatMap(\.code), at: now)
        let unnoted = area.unnotedLibraries
        if unnoted > 0 { ledger.note(.unknownLibraries, Int64(unnoted)) }
    }

    /// The same of the program, whose mappings could not be read once it had been let go.
    func learnProgram(of image: RunningImage, at now: MonotonicTime) {
        guard observer.mappings.code.isEmpty, var noted = image.noted else { return }
        noted.path = image.path
        observer.addMappings(noted.code, at: now)
    }

    /// The shortest launches are over before the first tick: what they have loaded is looked at as
    /// soon as it is there.
    func awaitLibraries() {
        guard let instrumentation, threads[pid]?.isTraced == false,
            instrumentation.hasLinkerHook || instrumentation.area[\.gates_entry] != 0
                || instrumentation.area[\.entry_slot] != 0
        else { return }
        let area = instrumentation.area
        marks?.prepare(programPath, of: pid)
        let isLoaded = wait(atMost: .milliseconds(1), every: 100) {
            area.border(.relocated) != nil || area.isGateWaiting
        }
        guard isLoaded else { return }
        if area.isGateWaiting { serveGate() } else { observer.rereadMappings(at: .now) }
    }

    private func pass(
        _ border: LaunchBorder, _ moment: Area.Moment, of image: RunningImage,
        _ code: Instrumentation, at now: MonotonicTime
    ) {
        guard let main = threads[pid] else { return }
        let time = min(max(moment.time, image.start), now)
        // What it answered before belongs before the border.
        if let counters = main.counters() {
            if let answered = code.signals?.timeOfAnswer(of: main), answered < time {
                takeAnswer(of: main, counters)
            }
            if main.blocked == nil {
                observer.sample(
                    SharedSlots.Answer(
                        time: time, cpu: moment.cpu, registers: moment.stack.registers,
                        stack: moment.stack.stack, isOnAlternateStack: false),
                    of: main, counters, frames: nil)
            }
        }
        sink.receive(.mark(Mark(kind: border.mark, time: time, counters: moment.counters)))
        if border == .relocated {
            // Where the linker does not tell, that is what it begins with.
            let mapping = code.area.time(\.mapping_ns) ?? code.area.time(\.settled_ns)
            listLibraries(of: image, code, since: mapping ?? time)
            if !code.notesMain { sink.receive(.mark(Mark(kind: .main, time: time))) }
        } else if capture != .signal {
            // Nobody would tell us from here on of filters for system calls.
            abandonMarks()
        }
    }

    /// The linker's list as it is when the start-up's libraries are there.
    private func listLibraries(
        of image: RunningImage, _ code: Instrumentation, since start: MonotonicTime
    ) {
        guard image.libraries == nil, let linker = code.linker else { return }
        image.libraries = LibraryList(linker)
        // Meanwhile the program may have loaded more.
        let initial = code.area.initialLibraries
        reportLibraries(since: start, isInitial: true, most: initial > 0 ? initial : .max)
        let memory = TargetMemory(pid: pid)
        let objects = LinkMap.objects(debug: linker.debug, memory: memory)
        switchOnSignposts(of: images(of: objects, memory))
        if !code.hasServedGate { marks?.pending = objects }
    }

    /// Somebody waits in our code until we are ready for what runs next. What need not be done by
    /// then is left for later.
    func serveGate() {
        guard let code = instrumentation, code.area.isGateWaiting else { return }
        let area = code.area
        if libraries == nil, let linker = code.linker { takeLoaded(linker, code) }
        if let program = code.loneProgram { take(program, code) }
        let sites =
            signalCapture != nil && area.hookedWords.isEmpty ? findOtherLibrary() : .unknown
        let marks = planMarks()
        self.marks?.unrelocated = nil
        // Who has waited in vain runs: marks are put there at a tick, with stops. What may be relocating
        // itself just then is left alone.
        guard area.holdGate() else {
            if code.loneProgram?.dynamicSection != nil { self.marks?.pending = [] }
            return
        }
        instrumentation?.sites.formUnion(lead(sites, past: area).keys)
        if let marks { place(marks) }
        area.openGate()
        // It may have to have our core for that.
        wait(atMost: .milliseconds(1), every: 20) { area.time(\.gate_end_ns) != nil }
        observer.rereadMappings(at: .now)
        reportBorders(at: .now)
    }

    /// Of the libraries' signposts nobody waits for any, unless the program has some.
    private func takeLoaded(_ linker: DynamicLinker, _ code: Instrumentation) {
        let memory = TargetMemory(pid: pid)
        let objects = LinkMap.objects(debug: linker.debug, memory: memory)
        switchOnSignposts(of: images(of: [], memory))
        if code.hooks.signposts.isOn { switchOnSignposts(of: images(of: objects, memory)) }
        marks?.pending = objects
        code.hasServedGate = true
    }

    /// A program that is yet to relocate itself is read as it will be, for the sake of its tables of
    /// jumps. Where that is not known, no mark is put there.
    private func take(_ program: LoneProgram, _ code: Instrumentation) {
        let memory = TargetMemory(pid: pid)
        switchOnSignposts(of: images(of: [], memory))
        marks?.pending = [program.object]
        if marks != nil, let dynamic = program.dynamicSection {
            let relocated = UnrelocatedMemory(of: program.object, dynamic: dynamic, memory: memory)
            if relocated == nil { marks?.pending = [] }
            marks?.unrelocated = relocated
        }
        code.hasServedGate = true
    }

    /// The C library is another one than ours: its calls are looked for.
    private func findOtherLibrary() -> CallSites {
        observer.rereadMappings(at: .now)
        return CallSites.find(in: observer.mappings.code, memory: TargetMemory(pid: pid))
    }
}
