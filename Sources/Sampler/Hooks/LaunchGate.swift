import Agent
import CAgent
import Images
import ProcessIO
import ProfileModel
import System

/// Does the work that is due when libraries are loaded and nothing has run yet: a thread of the program waits
/// for it in our code.
struct LaunchGate: SessionPart {
    let context: SessionContext
    let patcher: CodePatcher
    let signposts: SignpostReports
    let markPlacer: MarkPlacer
    let libraryReports: LibraryReports
    let launchReports: LaunchReports

    /// The shortest launches are over before the first tick. So we wait for the libraries and look
    /// at them as soon as they are there.
    func awaitLibraries() {
        guard let instrumentation = context.instrumentation,
            threads[pid]?.tracing.isTraced == false,
            instrumentation.hasLinkerHook || instrumentation.area[\.gates_entry] != 0
                || instrumentation.area[\.entry_pointer] != 0
        else { return }
        let area = instrumentation.area
        marks?.prepare(context.programPath, of: process)
        let isLoaded = context.wait(atMost: .milliseconds(1), every: 100) {
            area.border(.relocated) != nil || area.isGateWaiting
        }
        guard isLoaded else { return }
        if area.isGateWaiting { serveGate() } else { observer.rereadMappings(at: process.now) }
    }

    /// The program's thread waits in our code until we are ready for what runs next. Whatever can
    /// wait is left for later.
    func serveGate() {
        guard let code = context.instrumentation, code.area.isGateWaiting else { return }
        if code.area.write(code.patches, process.memory) { return }
        let area = code.area
        libraryReports.learnLinkedProgram(code)
        if context.libraries == nil, let linker = code.linker { takeLoaded(linker, code) }
        if let program = code.loneProgram { take(program, code) }
        let sites =
            signalCapture != nil && area.hookedWords.isEmpty ? findOtherLibrary() : .unknown
        let plans = markPlacer.planMarks()
        marks?.unrelocated = nil
        // A thread that has waited too long runs on: its marks are placed at a tick, with stops. A
        // program that may be relocating itself just then gets none.
        guard area.holdGate() else {
            if code.loneProgram?.dynamicSection != nil { marks?.pending = [] }
            return
        }
        context.instrumentation?.sites.formUnion(patcher.lead(sites, past: area).keys)
        if let plans { markPlacer.place(plans) }
        noteMainOfLinked(code)
        area.openGate()
        // The thread may need our core to continue.
        context.wait(atMost: .milliseconds(1), every: 20) { area.time(\.gate_end_ns) != nil }
        observer.rereadMappings(at: process.now)
        launchReports.reportBorders(at: process.now)
    }

    /// The signposts of libraries count only if the program has some itself.
    private func takeLoaded(_ linker: DynamicLinker, _ code: Instrumentation) {
        let memory = process.memory
        let objects = libraryReports.linkedObjects(linker, of: stage.image, memory)
        signposts.switchOnSignposts(of: signposts.images(of: [], memory))
        if code.hooks.signposts.isOn {
            signposts.switchOnSignposts(of: signposts.images(of: objects, memory))
        }
        marks?.pending = objects
        code.hasServedGate = true
    }

    /// A program that will still relocate itself is read as it will be afterwards, because of its
    /// jump tables. Where we cannot compute them, no mark is placed.
    private func take(_ program: LoneProgram, _ code: Instrumentation) {
        let memory = process.memory
        signposts.switchOnSignposts(of: signposts.images(of: [], memory))
        marks?.pending = [program.object]
        if marks != nil, let dynamic = program.dynamicSection {
            let relocated = UnrelocatedMemory(of: program.object, dynamic: dynamic, memory: memory)
            if relocated == nil { marks?.pending = [] }
            marks?.unrelocated = relocated
        }
        code.hasServedGate = true
    }

    /// Finds the calls of a C library that is not ours.
    private func findOtherLibrary() -> CallSites {
        observer.rereadMappings(at: process.now)
        return CallSites.find(in: observer.mappings.code, memory: process.memory)
    }

    /// Leads the C library's start function to our code, so that it notes `main`. The program's thread
    /// waits meanwhile.
    private func noteMainOfLinked(_ code: Instrumentation) {
        guard let program = stage.image?.linked, let pointer = program.startPointer else { return }
        code.area.set(
            \.start_is_protected, program.loaded.isProtected(pointer) ? 1 : 0)
        code.area.set(\.start_pointer, pointer)
        code.willNoteMain()
    }
}
