import ProfileModel

/// Own code that the compiler did not optimise uses CPU time on the main thread. Only another build
/// can show how much of it could be saved, so it takes no time from other findings.
struct UnoptimizedBuild: FindingRule {
    /// The least share of the launch, up to readiness.
    private static let leastShare = 0.1

    func findings(in search: inout FindingSearch) -> [Finding] {
        let profile = search.profile
        let spent = OwnTime(of: search) { frame in
            frame.isUnoptimized && profile.frames[frame.function].isOwn
        }
        let least = Double(search.end.nanoseconds) * Self.leastShare
        guard spent.cpu >= search.least, Double(spent.cpu.nanoseconds) >= least,
            let finding = spent.finding(.unoptimizedBuild(functions: spent.functions.count), search)
        else { return [] }
        return [finding]
    }
}

/// CPU time of the main thread until readiness with frames of some kind innermost.
struct OwnTime {
    private(set) var cpu = TimeSpan.zero
    private(set) var functions: Set<FunctionID> = []
    private var range: Range<TimeSpan>?
    private var byLine: [Int32: TimeSpan] = [:]

    init(of search: FindingSearch, in frames: (Frame) -> Bool) {
        let profile = search.profile
        let windows = TimeWindows([.zero..<search.end])
        profile.forEachPart(in: search.mainThread(in: windows)) { part in
            let line = profile.paths.lines[Int(part.line)]
            let frame = profile.frames[profile.paths.sites[Int(line.site)].frame]
            guard part.times.running > .zero, frames(frame) else { return }
            cpu = cpu + part.times.running
            range =
                min(
                    range?.lowerBound ?? part.start, part.start)..<max(
                    range?.upperBound ?? part.end, part.end)
            functions.insert(frame.function)
            byLine[part.line, default: .zero] =
                byLine[part.line, default: .zero]
                + part.times.running
        }
    }

    /// A finding with the heaviest stack as its evidence; nil: there is none.
    func finding(_ subject: Finding.Subject, _ search: FindingSearch) -> Finding? {
        let heaviest = byLine.max { ($0.value, $1.key) < ($1.value, $0.key) }
        guard let line = heaviest?.key, let range else { return nil }
        let stack = search.profile.stack(ofLine: line)
        guard let place = stack.last else { return nil }
        return Finding(
            subject: subject, saving: cpu, thread: search.mainThread(at: range.lowerBound),
            range: range, place: place, stack: stack)
    }
}
