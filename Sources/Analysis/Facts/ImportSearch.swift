package import ProfileModel

/// Finds the imports of one thread from its parts, and divides its time among them.
struct ImportSearch {
    private let steps: ImportSteps
    private let thread: Int
    /// In the order of their starts, the outer first.
    private(set) var found: [ImportFigures] = []
    /// For each part within an import, by its position, the innermost step that it is in.
    private(set) var homes: [(part: Int32, step: Int32)] = []
    /// The imports that are still running, the outermost first.
    private var open: [(step: Int32, position: Int)] = []
    /// The outermost function of the stack that began the last of `open`.
    private var root: FunctionID?
    /// The end of the last part whose stack is known.
    private var last = TimeSpan.zero
    /// Parts since then, whose stacks do not show their imports.
    private var unknown = Doings()
    /// Stretches since the last stack that showed all imports.
    private var stretches: [Stretch] = []

    /// Parts whose imports are not known yet.
    private struct Doings {
        var cpu = TimeSpan.zero
        var parts: [Int32] = []

        mutating func add(_ part: Profile.Part, _ position: Int32) {
            cpu = cpu + part.times.running
            parts.append(position)
        }
    }

    /// A part whose stack shows only that the outermost imports are still running. A later part
    /// shows whether the others are.
    private struct Stretch {
        var start: TimeSpan
        var end: TimeSpan
        var doings: Doings
        /// The number of imports that are certainly still running.
        var depth: Int
    }

    private enum Sight {
        case nothing
        case outermost(Int)
        case all([Int32])
    }

    init(_ steps: ImportSteps, thread: Int) {
        self.steps = steps
        self.thread = thread
    }

    /// - Parameter position: the part's, in the profile.
    mutating func add(_ part: Profile.Part, at position: Int32, path: Int32) {
        let sight = sight(ofPath: path)
        if case .all(let chain) = sight { return follow(chain, part, position, path: path) }
        unknown.add(part, position)
        guard case .outermost(let depth) = sight else { return }
        stretches.append(Stretch(start: last, end: part.end, doings: unknown, depth: depth))
        (last, unknown) = (part.end, Doings())
    }

    private mutating func follow(
        _ chain: [Int32], _ part: Profile.Part, _ position: Int32, path: Int32
    ) {
        var common = 0
        while common < min(chain.count, open.count), open[common].step == chain[common] {
            common += 1
        }
        // The time between two stacks of an import belongs to it.
        settle(upTo: common)
        charge(unknown, from: last, to: part.start, upTo: common)
        unknown = Doings()
        close(to: common)
        if common < chain.count { root = steps.root(ofPath: path) }
        for step in chain[common...] { begin(step, at: part.start) }
        charge(
            Doings(cpu: part.times.running, parts: [position]), from: part.start, to: part.end,
            upTo: open.count)
        last = part.end
    }

    /// - Parameter depth: how many of the open imports are still running after the stretches.
    private mutating func settle(upTo depth: Int) {
        var depth = depth
        // An import that runs later was running before, too.
        for index in stretches.indices.reversed() {
            depth = max(depth, stretches[index].depth)
            stretches[index].depth = depth
        }
        for stretch in stretches {
            charge(stretch.doings, from: stretch.start, to: stretch.end, upTo: stretch.depth)
        }
        stretches.removeAll(keepingCapacity: true)
    }

    private func sight(ofPath path: Int32) -> Sight {
        let (step, gaps) = steps.step(ofPath: path)
        let now = open.map(\.step)
        if step == now.last { return .all(now) }
        let isPart = gaps.contains(.outermost) || root != steps.root(ofPath: path)
        if isPart, !now.isEmpty, step == ImportSteps.none { return .nothing }
        let chain = steps.chain(to: step)
        // The missing inner frames may be the imports that were running.
        if gaps.contains(.within), now.starts(with: chain) {
            return chain.isEmpty ? .nothing : .outermost(chain.count)
        }
        // Of the running imports, this stack may be the inner part.
        let goesOn =
            gaps.contains(.outermost) && chain.count <= now.count
            && zip(chain, now.suffix(chain.count)).allSatisfy { steps.areAlike($0, $1) }
        return .all(goesOn ? now : chain)
    }

    mutating func finish() {
        settle(upTo: 0)
        close(to: 0)
    }

    private mutating func close(to depth: Int) { open.removeSubrange(depth...) }

    private mutating func begin(_ step: Int32, at start: TimeSpan) {
        let known = steps.steps[Int(step)]
        let figures = ImportFigures(
            name: known.name, isAwaited: known.isAwaited, file: known.file, thread: thread,
            parent: open.last?.position, depth: known.depth, start: start, end: start, cpu: .zero,
            ownWall: .zero, ownCPU: .zero)
        open.append((step, found.count))
        found.append(figures)
    }

    /// Extends the outermost `depth` open imports; the innermost of them gets the time as its own.
    private mutating func charge(
        _ doings: Doings, from start: TimeSpan, to end: TimeSpan, upTo depth: Int
    ) {
        guard depth > 0, end >= start else { return }
        for (_, position) in open[..<depth] {
            found[position].end = max(found[position].end, end)
            found[position].cpu = found[position].cpu + doings.cpu
        }
        let (step, inner) = open[depth - 1]
        homes += doings.parts.map { ($0, step) }
        found[inner].ownWall = found[inner].ownWall + (end - start)
        found[inner].ownCPU = found[inner].ownCPU + doings.cpu
    }
}

/// One import of a module by a thread. It lasts as long as the thread's stacks contain it.
package struct ImportFigures: Hashable, Sendable {
    /// The module's name, as the program wrote it.
    package var name: String
    /// Whether another thread imported it, and this one waited.
    package var isAwaited: Bool
    /// The file of the module's code; nil: no stack shows it running, or it is no script.
    package var file: String?
    /// In the profile's list.
    package var thread: Int
    /// The import whose code imported this module, in the profile's list, before this one; nil:
    /// none.
    package var parent: Int?
    /// The number of imports that it is nested in.
    package var depth: Int
    /// Since the launch's start.
    package var start: TimeSpan
    package var end: TimeSpan
    /// CPU time of its thread during the import.
    package var cpu: TimeSpan
    /// The part of that time not spent in nested imports.
    package var ownWall: TimeSpan
    package var ownCPU: TimeSpan

    package var wall: TimeSpan { end - start }

    /// The name of its frame in stacks.
    package var title: String { (isAwaited ? Function.awaits : Function.imports) + name }
}

extension Profile {
    /// Every import that a sample shows, thread by thread. Imports are in the order of their
    /// starts, the outer first.
    package func importRuns() -> [ImportFigures] {
        var result: [ImportFigures] = []
        for search in importSearches(ImportSteps(paths, frames)) {
            let first = result.count
            result += search.found.map { found in
                var found = found
                found.parent = found.parent.map { $0 + first }
                return found
            }
        }
        return result
    }

    /// The imports of each thread, found from its parts.
    func importSearches(_ steps: ImportSteps) -> [ImportSearch] {
        guard !steps.isEmpty else { return [] }
        return threads.indices.map { thread in
            var search = ImportSearch(steps, thread: thread)
            for position in partIndex[thread] {
                let part = parts[Int(position)]
                search.add(part, at: position, path: paths.path(ofLine: part.line))
            }
            search.finish()
            return search
        }
    }
}
