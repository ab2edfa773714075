import Agent
import Glibc
import ProcessIO
import ProfileModel
import System

/// Chooses the signal for stacks, checks whether our code may be in the program at all, and begins
/// to use it.
struct AgentSetup: SessionPart {
    let context: SessionContext

    /// Chooses the signal for stacks, and returns its present action (0: the default, 1: ignored).
    /// Throws if anything forbids our code in the program. The program must not use the signal
    /// itself. An ignored signal is the last choice: it stays ignored in programs that are
    /// executed, and with a handler it would not.
    ///
    /// - Parameter known: the present action of the first choice, where we need not ask.
    func checkTarget(
        known: UInt64? = nil
    ) throws(SetupFailure) -> (number: Int32, original: UInt64) {
        if known == 0 { return (SIGURG, 0) }
        // The times that our code would note are those of the program's clock.
        if process.hasOtherClocks { throw .obstacle(.otherClock) }
        guard let status = process.status else { throw .gone }
        if status.isFiltered(beyond: ThreadStatus.ownFilters) { throw .obstacle(.filtered) }
        // Our pieces return to where a thread was, without any call having gone there.
        if status.hasShadowStack { throw .obstacle(.shadowStack) }
        let free = [SIGURG, Self.spareSignal].filter { status.leavesAlone($0) }
        guard let signal = free.first(where: { !status.ignores($0) }) ?? free.first else {
            throw .obstacle(.ownHandler)
        }
        guard AgentMemory.fits(process, stackBytes: options.stackBytes) else {
            throw .obstacle(.limited)
        }
        return (signal, status.ignores(signal) ? 1 : 0)
    }

    /// Like SIGURG, it is ignored unless a program wants it. Full-screen programs do.
    private static var spareSignal: Int32 { SIGWINCH }

    static func spare(besides signal: Int32) -> Int32 { signal == SIGURG ? spareSignal : 0 }

    /// The process's id, as the process itself knows it.
    var innerPID: Int32 { context.sharesNamespace ? pid : process.status?.innerPID ?? pid }

    /// All is in place, or will be before anything of the program runs.
    func use(
        _ area: AgentMemory, _ contents: AgentMemory.Contents, _ setup: Instrumentation.Setup,
        in image: RunningImage
    ) {
        area.wasInherited()
        observer.ownCode = area.range
        if let marks { area.fillMarks(marks.records) }
        let signposts = area.makeSignposts(pid: innerPID, since: min(image.start, process.now))
        let signals = contents.signal.map { _ in
            SignalCapture(
                pid: pid, slots: SharedSlots(area: area, cookie: contents.cookie),
                stackBytes: options.stackBytes)
        }
        let instrumentation = Instrumentation(
            area, setup, hooks: Hooks(area: area, signposts: signposts), signals: signals)
        instrumentation.patches = contents.patchesThatFit
        instrumentation.sites = Set(contents.patches.filter { $0.call != nil }.map(\.address))
        image.instrumentation = instrumentation
    }
}
