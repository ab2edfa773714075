import Analysis
import Glibc
import Report

/// The user's list of resolved things.
struct ResolvedFile {
    private let path: String?
    private var text = ""
    private let list: ResolvedList

    /// - Parameters:
    ///   - path: nil: there is none.
    ///   - isMade: true if a missing list will be created.
    init(_ path: String?, isMade: Bool) throws(Reading.Failure) {
        self.path = path
        if let path {
            do throws(TextFile.Failure) {
                text = try TextFile.read(path)
            } catch {
                guard isMade, error.isMissing else { throw Reading.Failure(error.message) }
            }
        }
        list = ResolvedList(text)
    }

    var entries: [ResolvedEntry] { list.entries }

    private static let mostProblems = 5

    /// Complains about unusable lines, up to a few.
    func complain(to console: Console) {
        guard let path else { return }
        for problem in list.problems.prefix(Self.mostProblems) {
            console.complain("\(path), line \(problem.line): \(problem.reason); it is left out")
        }
        let more = list.problems.count - Self.mostProblems
        if more > 0 { console.complain("\(path): \(more) more lines like that") }
    }

    /// Adds what the user has resolved, and reports it.
    /// - Returns: the added entries.
    func add(
        _ wanted: [TopOptions.Resolve], _ sums: TopSums, _ console: Console
    ) throws(Reading.Failure) -> [ResolvedEntry] {
        guard let path, !wanted.isEmpty else { return [] }
        let now = Int64(time(nil))
        var added: [ResolvedEntry] = []
        for one in wanted {
            let found = try TopReading.attempt { () throws(TopError) in
                try sums.entries(resolving: one.name, one.kind, date: now)
            }
            for entry in found where !added.contains(entry) { added.append(entry) }
        }
        let needsBreak = text.utf8.last.map { $0 != UInt8(ascii: "\n") } ?? false
        do throws(TextFile.Failure) {
            try TextFile.append((needsBreak ? "\n" : "") + ResolvedList.lines(added), to: path)
        } catch {
            throw Reading.Failure(error.message)
        }
        for entry in added {
            let thing = entry.thing
            console.complain("resolved from now on: \(thing.kind.rawValue) \(thing.name)")
        }
        return added
    }
}
