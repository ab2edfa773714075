package import ProfileModel

/// The costs of the processes that a launch starts, from the kernel's reports. Pure.
package struct ProcessCosts {
    package struct News: Hashable, Sendable {
        package var time: MonotonicTime
        package var pid: Int32
        package var kind: Kind
    }

    package enum Kind: Hashable, Sendable {
        /// A process, forked by another.
        case began(creator: Int32)
        case threadBegan
        /// Another program replaced the process's one.
        case executed(name: String)
        case threadEnded
        /// When one of the process's threads ended, it had used this much on one core.
        case used(TimeSpan)
    }

    fileprivate struct Process {
        var name: String
        var began: MonotonicTime
        var ended: MonotonicTime?
        var threads = 1
        var used: TimeSpan?
    }

    /// The most names that are listed. Processes of other names are counted together.
    private static let mostNames = 200
    private static let otherNames = "(other programs)"

    private let first: Int32
    private var firstName: String
    private var processes: [Process] = []
    /// By id. The kernel may give an id to another process later.
    private var current: [Int32: Int] = [:]

    /// - Parameters:
    ///   - first: the launch's first process, which is not counted.
    ///   - news: in any order.
    package init(of first: Int32, called name: String, _ news: [News]) {
        self.first = first
        firstName = name
        // The news of each core are in order, and must stay so.
        for (_, news) in news.enumerated().sorted(by: {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }) { add(news) }
    }

    private mutating func add(_ news: News) {
        if case .began(let creator) = news.kind {
            let name = name(of: creator)
            current[news.pid] = processes.count
            processes.append(Process(name: name, began: news.time))
        } else if news.pid == first {
            if case .executed(let name) = news.kind { firstName = name }
        } else if let place = current[news.pid] {
            processes[place].add(news)
        }
    }

    private func name(of pid: Int32) -> String {
        current[pid].map { processes[$0].name } ?? firstName
    }

    /// The processes that have not ended, as far as known.
    package var going: [Int32] { current.filter { processes[$0.value].ended == nil }.map(\.key) }

    /// The processes that began before the launch's end, by name, in the order in which names first
    /// appear.
    ///
    /// - Parameters:
    ///   - isLate: true if processes that have ended since then may have used more than at the end.
    ///   - used: the CPU time of a process that still runs; nil: unknown.
    package func costs(
        until end: MonotonicTime, isLate: Bool = false, used: (Int32) -> TimeSpan?
    ) -> [MeasuredProcesses] {
        var costs: [MeasuredProcesses] = []
        var places: [String: Int] = [:]
        let pids = Dictionary(current.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for (index, process) in processes.enumerated() where process.began <= end {
            let hasEnded = process.ended.map { $0 <= end } ?? false
            let wall = (hasEnded ? process.ended ?? end : end) - process.began
            let isOver = process.ended != nil && (hasEnded || !isLate)
            let cpu = isOver ? process.used : pids[index].flatMap(used)
            let isFull = costs.count >= Self.mostNames && places[process.name] == nil
            let name = isFull ? Self.otherNames : process.name
            guard let place = places[name] else {
                places[name] = costs.count
                costs.append(
                    MeasuredProcesses(
                        name: name, count: 1, running: hasEnded ? 0 : 1, wall: wall, cpu: cpu))
                continue
            }
            costs[place].count += 1
            costs[place].running += hasEnded ? 0 : 1
            costs[place].wall += wall
            costs[place].cpu = costs[place].cpu.flatMap { sum in cpu.map { sum + $0 } }
        }
        return costs
    }
}

extension ProcessCosts.Process {
    fileprivate mutating func add(_ news: ProcessCosts.News) {
        switch news.kind {
        case .began: break
        case .threadBegan: threads += 1
        case .executed(let name): self.name = name
        case .threadEnded:
            threads -= 1
            if threads <= 0 { ended = news.time }
        case .used(let time): used = (used ?? .zero) + time
        }
    }
}
