import Analysis
import Exports
import ProfileModel

/// The stacks that explain one phase in the summary.
struct PhaseStacks {
    let profile: Profile
    let options: TextOptions
    let phase: Int

    private typealias Section = (caption: String, stack: HeaviestStack)

    func tables() -> [String] {
        var sections = [heaviest].compactMap { $0 }
        for section in [mainThread, wait, meanwhile].compactMap({ $0 })
        where !sections.contains(where: { isSameStack($0.stack, section.stack) }) {
            sections.append(section)
        }
        return sections.map {
            StackTableView(
                stack: $0.stack, frames: profile.frames, caption: $0.caption, options: options
            )
            .render()
        }
    }

    private var figures: Phase { profile.phase(phase, in: options.selection) }
    private var name: String { figures.name.escapedForDisplay }

    /// The phase's heaviest stack over all threads; if there are several processes, that of the
    /// busiest one.
    private var heaviest: Section? {
        let selection = Selection(phases: [phase], windows: options.selection.windows)
        guard options.selection.threads == nil,
            let process = profile.heaviestProcess(in: selection, weight: options.treeWeight)
        else {
            return section(
                "\(name): heaviest stack", options.treeWeight, options.selection.threads)
        }
        let figures = profile.processes[process]
        let place = "\(figures.label.escapedForDisplay) (\(figures.pid))"
        return section(
            "\(name): heaviest stack, in \(place)", options.treeWeight, Set(figures.threads))
    }

    // The rest is about the main thread; it is left out if other threads were chosen.

    /// The main thread's own heaviest stack, if another thread's is heavier: in the end, the launch
    /// waits for the main thread.
    private var mainThread: Section? {
        guard isAtLeast(0.1, figures.mainThread.running), showsMain else { return nil }
        return section(
            "\(name): main thread's heaviest stack", options.treeWeight, isOfMainThread: true)
    }

    private var wait: Section? {
        guard isBlocked, showsMain else { return nil }
        let blocked = figures.mainThread.blocked
        return section(
            "\(name): main thread blocked \(Numbers.time(blocked)) "
                + "(\(Numbers.percent(blocked, of: figures.wall))), heaviest wait",
            .blocked, isOfMainThread: true)
    }

    /// The busiest other thread while the main thread waited: often the thread that it waited for.
    private var meanwhile: Section? {
        guard isBlocked, showsMain else { return nil }
        let times = profile.timesByThread(
            in: Selection(phases: [phase], windows: options.selection.windows))
        let busiest = times.indices.filter { !profile.mainThread.threads.contains($0) }
            .max { (times[$0].running, $1) < (times[$1].running, $0) }
        guard let busiest, isAtLeast(0.1, times[busiest].running) else { return nil }
        let thread = profile.label(ofThread: busiest).escapedForDisplay
        return section("\(name): meanwhile, thread \(thread)", .cpu, [busiest])
    }

    private var isBlocked: Bool { isAtLeast(0.1, figures.mainThread.blocked) }

    /// True if the main thread is among the chosen threads.
    private var showsMain: Bool {
        guard let main = profile.mainThread.usual else { return false }
        return options.selection.threads?.contains(main) ?? true
    }

    private func isAtLeast(_ share: Double, _ time: TimeSpan) -> Bool {
        time > .zero
            && Double(time.nanoseconds) >= share * Double(figures.wall.nanoseconds)
    }

    private func section(
        _ caption: String, _ weight: Weight, _ threads: Set<Int>? = nil,
        isOfMainThread: Bool = false
    ) -> Section? {
        let stack = profile.heaviestStack(
            Selection(
                phases: [phase], threads: threads, windows: options.selection.windows,
                isOfMainThread: isOfMainThread),
            weight: weight)
        return stack.entries.isEmpty ? nil : (caption, stack)
    }

    private func isSameStack(_ left: HeaviestStack, _ right: HeaviestStack) -> Bool {
        func functions(_ stack: HeaviestStack) -> [FunctionID] {
            stack.entries.map { profile.frames[$0.frame].function }
        }
        return left.weight == right.weight && functions(left) == functions(right)
    }
}
