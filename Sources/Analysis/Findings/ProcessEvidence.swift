package import ProfileModel

/// The particulars of several processes that one process started.
package struct ProcessEvidence: Hashable, Sendable {
    /// The process that started them; a position in the profile's list.
    package var parent: Int
    /// In the order of their starts.
    package var processes: [Int]
    /// How many processes have each name, the most frequent first.
    package var names: [Count]

    package struct Count: Hashable, Sendable {
        package var name: String
        package var count: Int
        /// Their CPU time.
        package var cpu = TimeSpan.zero
    }

    init(parent: Int, processes list: [Int], of profile: Profile) {
        self.parent = parent
        processes = list
        let counts = Dictionary(grouping: list) { profile.processes[$0].name }
        names = counts.map { name, list in
            let cpu = list.reduce(TimeSpan.zero) { $0 + profile.processes[$1].cpu }
            return Count(name: name, count: list.count, cpu: cpu)
        }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }
}

extension FindingSearch {
    /// A finding about a process, with the stack of its longest wait or of most of its work.
    ///
    /// - Returns: nil: none of its stacks is known.
    func finding(
        _ subject: Finding.Subject, of process: Int, in windows: TimeWindows
    ) -> Finding? {
        let figures = profile.processes[process]
        guard let range = windows.span, let thread = profile.leader(of: figures) else { return nil }
        var stack = figures.longestWait.map { profile.stack(of: $0) } ?? []
        if stack.isEmpty {
            stack = heaviestStack(of: thread, in: windows, by: .wall).entries.map(\.frame)
        }
        guard let place = place(in: stack) else { return nil }
        return Finding(
            subject: subject, saving: windows.length, thread: thread, range: range, place: place,
            stack: stack)
    }
}
