package import ProfileModel

/// Which part of a profile a question is about: positions in its lists; nil for all.
package struct Selection: Hashable, Sendable {
    package var phases: Set<Int>?
    package var threads: Set<Int>?

    package init(phases: Set<Int>? = nil, threads: Set<Int>? = nil) {
        self.phases = phases
        self.threads = threads
    }

    package static let all = Selection()
}

/// A name that nothing in the recording has.
package enum SelectionError: Error, Hashable, CustomStringConvertible {
    case unknownPhase(String, known: [String])
    case unknownThread(String, known: [String])

    package var description: String {
        switch self {
        case .unknownPhase(let name, let known): Self.sentence("phase", name, known)
        case .unknownThread(let name, let known): Self.sentence("thread", name, known)
        }
    }

    private static func sentence(_ kind: String, _ name: String, _ known: [String]) -> String {
        let limit = 12
        let more = known.count > limit ? " and \(known.count - limit) more" : ""
        let list = known.isEmpty ? "none" : known.prefix(limit).joined(separator: ", ") + more
        return "no \(kind) '\(name)' in this recording; it has: \(list)"
    }
}

extension Profile {
    /// The selection that a user's words mean.
    ///
    /// A phase is given by its name, or by the beginning of one name, in any case. A thread is
    /// given by its id or its name; a name means every thread that has it.
    package func selection(
        phase: String? = nil, thread: String? = nil
    ) throws(SelectionError) -> Selection {
        var result = Selection()
        if let phase { result.phases = try phases(named: phase) }
        if let thread { result.threads = try threads(named: thread) }
        return result
    }

    private func phases(named wanted: String) throws(SelectionError) -> Set<Int> {
        let folded = wanted.lowercased()
        let names = phases.map { $0.name.lowercased() }
        let equal = names.indices.filter { names[$0] == folded }
        if !equal.isEmpty { return Set(equal) }
        let matching = folded.isEmpty ? [] : names.indices.filter { names[$0].hasPrefix(folded) }
        guard Set(matching.map { names[$0] }).count == 1 else {
            throw .unknownPhase(wanted, known: unique(phases.map(\.name)))
        }
        return Set(matching)
    }

    private func threads(named wanted: String) throws(SelectionError) -> Set<Int> {
        if let tid = Int32(wanted) {
            let found = threads.indices.filter { threads[$0].tid == tid }
            if !found.isEmpty { return Set(found) }
        }
        let exact = threads.indices.filter { threads[$0].name == wanted }
        if !exact.isEmpty { return Set(exact) }
        let folded = wanted.lowercased()
        let found = threads.indices.filter { threads[$0].name.lowercased() == folded }
        guard !found.isEmpty else {
            throw .unknownThread(
                wanted, known: threads.map { "\($0.tid) \($0.name)" })
        }
        return Set(found)
    }

    private func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// Calls `body` with every part that belongs to the selection.
    func forEachPart(in selection: Selection, _ body: (Part) -> Void) {
        let takesPhase = phases.indices.map { selection.phases?.contains($0) ?? true }
        let takesThread = threads.indices.map { selection.threads?.contains($0) ?? true }
        for part in parts where takesPhase[Int(part.phase)] && takesThread[Int(part.thread)] {
            body(part)
        }
    }

    /// What the selected threads did in the selected phases, in all.
    package func times(in selection: Selection) -> StateTimes {
        var result = StateTimes.zero
        forEachPart(in: selection) { result = result + $0.times }
        return result
    }

    /// The same for each thread, in the order of ``threads``.
    package func timesByThread(in selection: Selection) -> [StateTimes] {
        var result = [StateTimes](repeating: .zero, count: threads.count)
        forEachPart(in: selection) {
            result[Int($0.thread)] = result[Int($0.thread)] + $0.times
        }
        return result
    }
}
