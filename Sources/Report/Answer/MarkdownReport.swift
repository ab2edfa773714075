package import Analysis
import Exports
import ProfileModel

/// The answer as Markdown, for an issue tracker, a pull request, or an AI assistant. It has the
/// same figures as the text summary.
package struct MarkdownReport {
    /// The maximum size in bytes without `--budget`.
    package static let usualBudget = 6000
    /// A smaller budget has no room for even the title and one finding.
    package static let leastBudget = 1000

    private let answer: Answer
    private let options: TextOptions
    private let path: AnswerPath?

    package init(_ profile: Profile, options: TextOptions = TextOptions()) {
        answer = Answer(profile, selection: options.selection, weight: options.weight)
        self.options = options
        path = AnswerPath(answer)
    }

    /// How much of each thing is shown.
    private struct Room {
        var findings: Int
        var phases: Int
        var path: Int

        static let all = [
            Room(findings: 10, phases: 12, path: 24), Room(findings: 5, phases: 8, path: 12),
            Room(findings: 3, phases: 6, path: 7), Room(findings: 2, phases: 4, path: 4),
            Room(findings: 1, phases: 3, path: 0), Room(findings: 1, phases: 0, path: 0),
        ]
    }

    /// - Parameter budget: in bytes. Content that does not fit is left out, and the text says so.
    package func render(budget: Int = usualBudget) -> String {
        var result = ""
        for (index, room) in Room.all.enumerated() {
            result = text(room) + (index == 0 ? "" : Self.cut)
            if result.utf8.count <= budget { return result }
        }
        // Names may be of any length, so even the smallest layout may not fit.
        let limit = max(0, budget - Self.cut.utf8.count - 1)
        var kept = ""
        for line in result.split(separator: "\n", omittingEmptySubsequences: false) {
            guard kept.utf8.count + line.utf8.count + 1 <= limit else { break }
            kept += line + "\n"
        }
        return kept + Self.cut
    }

    private static let cut = "\n*More with a larger `--budget`, or `report --full`.*\n"

    private func text(_ room: Room) -> String {
        [top, findings(room.findings), phases(room.phases), path(room.path), next]
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }

    // MARK: Parts

    private var top: String {
        let header = HeaderSection(profile: answer.profile, options: options)
        var lines = answer.preface(header, path)
        let words = answer.profile.program.arguments
        if words.count > 1 { lines.insert("command: " + words.joined(separator: " "), at: 0) }
        let selected = answer.profile.words(for: answer.selection)
        if !selected.isEmpty { lines.append("only " + selected) }
        let title = header.title.map { Self.escaped($0.shortened(to: Self.widest / 3)) }
        return "# " + title.joined(separator: " · ") + "\n"
            + (lines.isEmpty ? "" : "\n")
            + lines.map { "- \(Self.escaped($0.shortened(to: Self.widest)))\n" }.joined()
    }

    private static let widest = 300

    private func findings(_ most: Int) -> String {
        var result = "## What to look at\n\n"
        guard !answer.findings.isEmpty else {
            return result + Self.escaped(answer.composition(path)) + "\n"
        }
        for (index, finding) in answer.findings.prefix(most).enumerated() {
            let point = answer.point(finding)
            result += "\(index + 1). **\(Self.escaped(point.what.shortened(to: Self.widest)))**\n"
            if !point.place.isEmpty {
                result += "   - where: \(Self.escaped(point.place.shortened(to: Self.widest)))\n"
            }
            if !point.details.isEmpty {
                let details = point.details.joined(separator: "; ").shortened(to: Self.widest)
                result += "   - evidence: \(Self.escaped(details))\n"
            }
            if let advice = point.advice { result += "   - do: \(Self.escaped(advice))\n" }
        }
        return result + (answer.rest(after: most).map { "\nAnd \($0).\n" } ?? "")
    }

    private func phases(_ most: Int) -> String {
        guard most > 0 else { return "" }
        let rows = answer.phaseLines(most: most).map { line in
            let main = line.mainThread
            return [
                Self.escaped(line.name), Numbers.cell(line.wall), answer.share(of: line.wall) ?? "",
                Numbers.cell(line.cpu), Numbers.cell(main.blocked),
                Numbers.cell(main.runnable + main.preempted),
            ]
        }
        return "## Where the time went\n\n"
            + table(
                ["Phase", "Wall", "Share", "CPU, all threads", "Main thread waits", "has no core"],
                rows, texts: 1)
    }

    private func path(_ most: Int) -> String {
        guard most > 0, let path else { return longestWait }
        let frames = answer.profile.frames
        let measures = path.stack.weight.measures
        let entries = path.entries(of: frames, most: most)
        let rows = entries.map { entry in
            let function = frames.function(of: entry.frame)
            let place = frames[entry.frame].place
            let name = Self.escaped(function.name.shortenedFunction(to: 80))
            return [
                function.isOwn ? "**\(name)**" : name,
                Self.escaped(place.isEmpty ? function.module : place),
            ] + measures.map { Numbers.cell($0.of(entry.total)) }
        }
        return "## \(Self.escaped(path.caption(showing: entries.count)))\n\n"
            + "Callers above callees; the program's own functions are bold.\n\n"
            + table(["Function", "Where"] + measures.map(\.title), rows, texts: 2)
            + (longestWait.isEmpty ? "" : "\n" + longestWait)
    }

    private var longestWait: String {
        answer.longestWait.map { Self.escaped($0.shortened(to: Self.widest)) + "\n" } ?? ""
    }

    private var next: String {
        let steps = NextSteps(profile: answer.profile, file: options.file).steps
        return "## Next\n\n"
            + steps.map {
                "- `\(Self.code($0.command.shortened(to: Self.widest)))`: \($0.purpose)\n"
            }.joined()
    }

    /// - Parameter texts: the number of leading columns that contain text instead of figures.
    private func table(_ titles: [String], _ rows: [[String]], texts: Int) -> String {
        let rule = titles.indices.map { $0 < texts ? "---" : "---:" }
        return ([titles, rule] + rows).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }

    // MARK: Escaping

    /// Names come from anywhere: none of them may become a heading, a link, HTML or a cell's end.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.escapedForDisplay {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\\", "`", "*", "_", "[", "]", "|", "#", "~", "@", "!": result += "\\\(character)"
            default: result.append(character)
            }
        }
        return result
    }

    private static func code(_ text: String) -> String {
        text.escapedForDisplay.replacing("`", with: "'")
    }
}
