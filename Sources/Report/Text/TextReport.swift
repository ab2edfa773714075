package import Analysis
import Exports
import ProfileModel

/// A profile as text for a terminal. Pure: the same profile and options give the same bytes.
package enum TextReport {
    /// The report, its last line ended by a line break.
    package static func render(
        _ profile: Profile, view: View = .summary, options: TextOptions = TextOptions()
    ) -> String {
        let header = HeaderSection(profile: profile, options: options)
        let words = profile.words(for: options.selection)
        let selection = words.isEmpty ? "" : "  only \(words)".shortened(to: options.columns) + "\n"
        guard view != .summary else {
            return SummaryView(profile: profile, options: options).render(selection)
        }
        let body =
            switch view {
            case .full, .summary: FullView(profile: profile, options: options).render()
            case .notes: header.allNotes
            case .heaviest: HeaviestView(profile: profile, options: options).render()
            case .tree, .bottomUp:
                TreeView(profile: profile, options: options, isBottomUp: view == .bottomUp)
                    .render()
            case .processes: ProcessesView(profile: profile, options: options).render()
            case .threads: ThreadsView(profile: profile, options: options).render()
            case .modules: ModulesView(profile: profile, options: options).render()
            case .libraries: LibrariesView(profile: profile, options: options).render()
            case .imports: ImportsView(profile: profile, options: options).render()
            case .initializers: InitializersView(profile: profile, options: options).render()
            case .intervals: IntervalsView(profile: profile, options: options).render()
            case .events: EventsView(profile: profile, options: options).render()
            case .timeline: TimelineView(profile: profile, options: options).render()
            case .criticalPath: CriticalPathView(profile: profile, options: options).render()
            case .findings: FindingsView(profile: profile, options: options).render()
            }
        let top =
            view == .notes
            ? header.figures.wrappedParts(to: options.columns) + header.command : header.render()
        return top + selection + "\n" + body
    }
}

extension Profile {
    /// The subject of a view: "phase Main · thread worker (12)"; empty for everything.
    func words(for selection: Selection) -> String {
        var parts: [String] = []
        if let interval = selection.interval { parts.append("interval \(interval)") }
        if let chosen = selection.phases {
            let names = phases.indices.filter(chosen.contains).map { phases[$0].name }
            parts.append("phase " + names.joined(separator: ", "))
        }
        if let chosen = selection.threads {
            let names = threads.indices.filter(chosen.contains).map { threads[$0].label }
            parts.append(
                (names.count == 1 ? "thread " : "threads ") + names.joined(separator: ", "))
        }
        return parts.joined(separator: " · ").escapedForDisplay
    }
}
