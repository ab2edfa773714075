import ProcessIO
package import ProfileModel

/// Makes launches from the kernel's reports on all processes.
///
/// Pure: events in, in the order of their reports, and launches out. A process has a launch only if
/// its fork was reported. A thread's use of resources is reported just before its end.
package struct WatchedLaunches {
    /// A program that a process executed.
    package struct Program: Hashable, Sendable {
        package var names: ProcessNames
        package var inode: UInt64 = 0
        package var version: String?
    }

    private struct Life {
        var begun: MonotonicTime
        var parent: Int32
        /// True if we have started it ourselves, to watch others.
        var isOurs: Bool
        /// The threads that have not ended.
        var threads: Set<Int32>
        var endedThreads: Int64 = 0
        var images: [Image] = []
        /// The last of the images that is to be watched.
        var watched: (program: WatchedProgram, version: String?)?
        /// True if a program was executed whose name is unknown.
        var isUnnamed = false
        /// nil: the costs of some thread are unknown.
        var costs: ThreadCosts? = ThreadCosts()
        /// The costs of children that have ended.
        var childCosts: ThreadCosts? = ThreadCosts()
    }

    private struct Ending {
        var time: MonotonicTime
        /// A wait(2) status.
        var code: Int32
        var clock: TimeSpan?
    }

    private let wanted: WatchedNames
    private let own: Int32
    private let tick: TimeSpan
    private var lives: [Int32: Life] = [:]
    /// Costs of threads that are about to end. An id may be reused before its first thread's end
    /// was reported.
    private var costs: [Int32: [ThreadCosts]] = [:]
    private var ended: [WatchedLaunch] = []
    package private(set) var tally = WatchTally()

    /// The longest possible name of a file.
    private static let mostNameBytes = 255
    /// A process that executes one program after another has no launch that ends.
    package static let mostImages = 64
    /// The CPU time may be wrong by one part in this many: a fiftieth.
    private static let precision: Int64 = 50

    /// - Parameters:
    ///   - own: our process, whose children have no launches.
    ///   - tick: how often the kernel updates the CPU time of a running thread. When a thread ends,
    ///     the time since the last update is missing.
    package init(of wanted: WatchedNames, own: Int32, tick: TimeSpan) {
        (self.wanted, self.own, self.tick) = (wanted, own, tick)
    }

    /// Launches that ended since the last call, in order.
    package mutating func take() -> [WatchedLaunch] {
        defer { ended = [] }
        return ended
    }

    /// How many launches of watched programs are under way.
    package var running: Int { lives.values.count { $0.watched != nil } }

    /// The start of the earliest launch of a program that is under way; nil: there is none.
    package func earliest(of program: WatchedProgram, since limit: MonotonicTime) -> MonotonicTime?
    {
        lives.values.filter { life in
            life.begun >= limit
                && life.watched.map {
                    ($0.program.executable, $0.program.name)
                        == (program.executable, program.name)
                } ?? false
        }.map(\.begun).min()
    }

    /// When a process began, or executed its present program; nil: unknown.
    package func latest(of pid: Int32) -> MonotonicTime? {
        lives[pid].map { $0.images.last?.time ?? $0.begun }
    }

    /// True if the event ends a watched launch.
    package func isEnded(by event: ProcessEvent) -> Bool {
        guard case .threadEnded(let pid, let tid, _) = event.kind, let life = lives[pid] else {
            return false
        }
        return life.watched != nil && life.threads == [tid]
    }

    // MARK: Events of the kernel

    /// - Parameters:
    ///   - program: the program of an exec; nil: unknown.
    ///   - clock: the CPU time of a process that has just ended; nil: no longer known.
    /// - Returns: true if a watched program was executed in a launch whose start was seen.
    @discardableResult
    package mutating func add(
        _ event: ProcessEvent, program: Program? = nil, clock: TimeSpan? = nil
    ) -> Bool {
        switch event.kind {
        case .listening, .other: break
        case .processBegan(let pid, let parent): begin(pid, parent, event.time)
        case .threadBegan(let pid, let tid): lives[pid]?.threads.insert(tid)
        case .executed(let pid): return execute(pid, program, event.time)
        case .threadEnded(let pid, let tid, let code):
            end(tid, of: pid, Ending(time: event.time, code: code, clock: clock))
        }
        return false
    }

    package mutating func add(_ news: ThreadCosts.News) {
        costs[news.tid, default: []].append(news.costs)
    }

    /// Reports of costs were lost: the costs of running processes are unknown from now on.
    package mutating func lostCosts() {
        costs = [:]
        for pid in lives.keys {
            lives[pid]?.costs = nil
            lives[pid]?.childCosts = nil
        }
    }

    /// Events were lost: our knowledge of all running processes may be wrong.
    package mutating func lost(_ count: Int64) {
        tally.lostEvents += count
        tally.partial += running
        lives = [:]
        costs = [:]
    }

    // MARK: Processes

    private mutating func begin(_ pid: Int32, _ parent: Int32, _ time: MonotonicTime) {
        // The end of the earlier process with this id was not reported.
        if lives[pid]?.watched != nil { tally.partial += 1 }
        lives[pid] = Life(
            begun: time, parent: parent, isOurs: parent == own, threads: [pid])
    }

    private mutating func execute(
        _ pid: Int32, _ program: Program?, _ time: MonotonicTime
    ) -> Bool {
        let found = program.flatMap { program in
            WatchedProgram(program.names, inode: program.inode).map { (program, $0) }
        }
        let isWanted = found.map { wanted.include($0.0.names) } ?? false
        guard var life = lives[pid] else {
            if isWanted { tally.partial += 1 }
            return false
        }
        guard !life.isOurs else { return false }
        // Whichever thread called execve, the others have ended.
        life.threads = [pid]
        if found == nil, !life.isUnnamed {
            tally.unnamed += 1
            life.isUnnamed = true
        }
        // One more than the limit shows that there are too many.
        if life.images.count <= Self.mostImages {
            life.images.append(Self.image(found?.1, program?.names, time))
        }
        if isWanted, let found { life.watched = (found.1, found.0.version) }
        lives[pid] = life
        return isWanted
    }

    private static func image(
        _ program: WatchedProgram?, _ names: ProcessNames?, _ time: MonotonicTime
    ) -> Image {
        // The name alone, because it is kept as long as the process lives.
        let called = names?.arguments.first.map { ProgramName.file(of: $0).prefix(mostNameBytes) }
        return Image(
            path: program?.path ?? "",
            arguments: called.map { [String(decoding: $0, as: UTF8.self)] } ?? [], time: time)
    }

    private mutating func end(
        _ tid: Int32, of pid: Int32, _ ending: Ending
    ) {
        let used = takeCosts(of: tid)
        guard var life = lives[pid] else { return }
        // A thread that is unknown here ended in an exec, and its end is reported late.
        guard life.threads.remove(tid) != nil else { return }
        life.endedThreads += 1
        if let costs = life.costs { life.costs = used.map { costs + $0 } }
        guard life.threads.isEmpty else {
            lives[pid] = life
            return
        }
        lives[pid] = nil
        let all = life.costs.flatMap { own in life.childCosts.map { own + $0 } }
        // The parent's id may have been reused since.
        if let parent = lives[life.parent], parent.begun <= life.begun,
            let known = parent.childCosts
        {
            lives[life.parent]?.childCosts = all.map { known + $0 }
        }
        finish(life, pid, ending, all)
    }

    private mutating func finish(
        _ life: Life, _ pid: Int32, _ ending: Ending, _ all: ThreadCosts?
    ) {
        guard let (program, version) = life.watched else { return }
        guard life.images.count <= Self.mostImages else {
            tally.partial += 1
            return
        }
        ended.append(
            WatchedLaunch(
                pid: pid, begun: life.begun, ended: max(ending.time, life.begun), program: program,
                version: version, images: life.images,
                outcome: TraceEvent(status: ending.code)?.outcome ?? .unknown,
                cpu: cpu(of: life, ending.clock),
                counters: ProcessCounters(
                    minorFaults: all?.minorFaults, majorFaults: all?.majorFaults,
                    readBytes: all?.readBytes)))
    }

    /// The costs of each thread may be up to a tick too low. The process's clock is exact, if the
    /// id still belongs to that process.
    private func cpu(of life: Life, _ clock: TimeSpan?) -> TimeSpan? {
        guard let told = life.costs?.cpu else { return nil }
        let missing = TimeSpan(nanoseconds: tick.nanoseconds &* life.endedThreads)
        if let clock, clock >= told, clock <= told + missing + missing { return clock }
        let isPrecise = told.nanoseconds / Self.precision >= missing.nanoseconds
        return isPrecise ? told : nil
    }

    private mutating func takeCosts(of tid: Int32) -> ThreadCosts? {
        guard var known = costs[tid], !known.isEmpty else { return nil }
        let first = known.removeFirst()
        costs[tid] = known.isEmpty ? nil : known
        return first
    }
}
