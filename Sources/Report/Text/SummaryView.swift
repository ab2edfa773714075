import Analysis
import Exports
import ProfileModel

/// The answer, in at most forty lines of a hundred columns: the findings, the phases, the heaviest
/// path, the longest wait, and commands for the next step.
struct SummaryView {
    private let profile: Profile
    private let options: TextOptions
    private let answer: Answer
    private let path: AnswerPath?
    /// The text below the path. It does not depend on how much of the rest is shown.
    private let wait: String

    /// The maximum number of lines, including the header and empty lines.
    static let mostLines = 40

    init(profile: Profile, options: TextOptions) {
        self.profile = profile
        self.options = options
        answer = Answer(profile, selection: options.selection, weight: options.weight)
        path = AnswerPath(answer)
        wait = answer.longestWait ?? ""
    }

    /// How much of each thing is shown.
    private struct Room {
        var findings: Int
        var phases: Int
        var processes: Int
        var path: Int

        /// The layout with the most room comes first. Findings are the last to be dropped.
        static let all = [
            Room(findings: 4, phases: 8, processes: 6, path: 10),
            Room(findings: 4, phases: 7, processes: 4, path: 8),
            Room(findings: 3, phases: 7, processes: 3, path: 7),
            Room(findings: 3, phases: 6, processes: 3, path: 5),
            Room(findings: 3, phases: 5, processes: 0, path: 5),
            Room(findings: 2, phases: 4, processes: 0, path: 4),
            Room(findings: 1, phases: 3, processes: 0, path: 3),
        ]
    }

    /// - Parameter selection: the line that says what part is shown; empty: all of it.
    func render(_ selection: String) -> String {
        let top = top + selection + "\n"
        let wait = wait.isEmpty ? "" : twoLines(wait, after: " ", indent: 4)
        let end = next + notes
        var result = top
        for room in Room.all {
            result = top + text(room, wait: wait, end: end)
            if result.count(where: \.isNewline) <= Self.mostLines { break }
        }
        return result
    }

    // MARK: Subject

    private static let mostPreface = 6

    /// The program, the part that is nearly all of the launch, and the facts that a reader must
    /// know before trusting the figures.
    private var top: String {
        let header = HeaderSection(profile: profile, options: options)
        let lines = answer.preface(header, path).prefix(Self.mostPreface)
        return header.title.wrappedParts(to: width) + header.command
            + lines.map { twoLines($0, after: " ", indent: 4) }.joined()
    }

    private func text(_ room: Room, wait: String, end: String) -> String {
        let blocks = [
            findings(most: room.findings), phases(most: room.phases),
            processes(most: room.processes), points, path(most: room.path) + wait, end,
        ]
        return blocks.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    // MARK: Findings

    private func findings(most: Int) -> String {
        guard !answer.findings.isEmpty else { return answer.composition(path).wrapped(to: width) }
        let most = min(most, options.depth ?? .max)
        var result = heading("WHAT TO LOOK AT")
        for (index, finding) in answer.findings.prefix(most).enumerated() {
            let point = answer.point(finding)
            let label = "  \(index + 1)" + (index < 9 ? "  " : " ")
            result += twoLines(point.what, after: String(label.dropLast()), indent: 5)
            if !point.place.isEmpty {
                result += line(fitting(fitting(callers: point.place), point.details))
            }
            if let advice = point.advice {
                result += twoLines("→ " + fitting(sentences: advice), after: "    ", indent: 7)
            }
        }
        guard let rest = answer.rest(after: most) else { return result }
        return result + line("and \(rest): --view findings")
    }

    private static let indent = "     "
    private var room: Int { width - Self.indent.utf8.count - 2 }

    /// With as many details as one line has room for.
    private func fitting(_ text: String, _ details: [String]) -> String {
        details.reduce(text) { line, detail in
            let more = line + " · " + detail
            return more.escapedForDisplay.displayWidth <= room ? more : line
        }
    }

    /// With as many callers as one line has room for; the innermost in any case.
    private func fitting(callers text: String) -> String {
        var functions = text.split(separator: " ← ")
        while functions.count > 1,
            functions.joined(separator: " ← ").escapedForDisplay.displayWidth > room
        {
            functions.removeLast()
        }
        return functions.joined(separator: " ← ")
    }

    /// As many sentences as one line has room for; the first in any case.
    private func fitting(sentences text: String) -> String {
        var result = ""
        for sentence in text.split(separator: ". ") {
            let more = result.isEmpty ? String(sentence) : result + ". " + sentence
            guard result.isEmpty || more.displayWidth <= room else { return result + "." }
            result = more
        }
        return result
    }

    /// One line, cut if it is too long.
    private func line(_ text: String, after start: String = indent) -> String {
        start + text.escapedForDisplay.shortened(to: width - start.utf8.count) + "\n"
    }

    /// Two lines at most.
    private func twoLines(_ text: String, after start: String, indent: Int) -> String {
        let text = text.escapedForDisplay
        for room in stride(from: 2 * width, to: width / 2, by: -8) {
            let result = text.shortened(to: room).wrapped(to: width, after: start, indent: indent)
            if result.count(where: \.isNewline) <= 2 { return result }
        }
        return line(text, after: start + " ")
    }

    private func heading(_ text: String) -> String {
        "  " + (options.usesColour ? Style.heading.applied(to: text) : text) + "\n"
    }

    private var width: Int { options.columns }

    // MARK: Phases

    private func phases(most: Int) -> String {
        var table = TextTable(columns: [
            .init(title: "PHASE", alignment: .left, minimum: 12), .init(title: "WALL"),
            .init(title: "SHARE"), .init(title: "CPU", style: .running),
            .init(title: "WAITS", style: .blocked), .init(title: "NO CORE", style: .runnable),
        ])
        table.rows = answer.phaseLines(most: most).map { line in
            let main = line.mainThread
            return [
                line.name.escapedForDisplay, Numbers.cell(line.wall),
                answer.share(of: line.wall) ?? "", Numbers.cell(line.cpu),
                Numbers.cell(main.blocked), Numbers.cell(main.runnable + main.preempted),
            ].map { .init($0) }
        }
        return render(table)
    }

    private func processes(most: Int) -> String {
        guard most > 0, options.selection == .all else { return "" }
        return ProcessSummary(profile: profile, options: options, most: most).render()
    }

    private var points: String {
        PointsOfInterestTable(profile: profile, options: options, most: 4).render()
    }

    private func render(_ table: TextTable) -> String {
        table.render(width: width, colour: options.usesColour)
    }

    // MARK: Heaviest path

    private func path(most: Int) -> String {
        guard let path else { return "" }
        let entries = path.entries(of: profile.frames, most: most)
        return StackTableView(
            stack: path.stack, frames: profile.frames,
            caption: path.caption(showing: entries.count), options: options
        ).render(entries.map { .frame($0) })
    }

    // MARK: Next steps

    private var next: String {
        let steps = NextSteps(profile: profile, file: options.file).steps
        let widest = min(steps.map(\.command.displayWidth).max() ?? 0, width / 2)
        return steps.enumerated().map { index, step in
            let start = index == 0 ? "  next: " : "        "
            let purpose = "  (\(step.purpose))"
            let space = widest - step.command.displayWidth
            let room = width - start.utf8.count - step.command.displayWidth - purpose.displayWidth
            return line(
                step.command + String(repeating: " ", count: max(0, min(space, room))) + purpose,
                after: start)
        }.joined()
    }

    private var notes: String {
        let header = HeaderSection(profile: profile, options: options)
        let count = header.notes.count - header.essentials.count
        guard count > 0 else { return "" }
        return line("\(Numbers.count(count, "note")) on the recording: --notes", after: "  ")
    }
}
