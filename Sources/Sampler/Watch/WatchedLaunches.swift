import ProfileModel

/// Makes launches out of what the kernel tells of all processes.
///
/// Pure: events in, in the order in which the kernel told them, and launches out. Only a process whose
/// fork was told can have a launch. What its threads used is told when they end, just before that.
struct WatchedLaunches {
    /// What a process executed.
    struct Program: Hashable, Sendable {
        var names: ProcessNames
        var inode: UInt64 = 0
        var version: String?
    }

    private struct Life {
        var begun: MonotonicTime
        var parent: Int32
        /// We have started it, to watch others.
        var isOurs: Bool
        /// Those that have not ended.
        var threads: Set<Int32>
        var endedThreads: Int64 = 0
        var images: [Image] = []
        /// The last of them that is to be watched.
        var watched: (program: WatchedProgram, version: String?)?
        /// A program that was executed has no name.
        var isUnnamed = false
        /// nil: of some thread it is not known.
        var costs: ThreadCosts? = ThreadCosts()
        /// Of children that have ended.
        var childCosts: ThreadCosts? = ThreadCosts()
    }

    private struct Ending {
        var time: MonotonicTime
        /// As wait(2) has it.
        var code: Int32
        var clock: TimeSpan?
    }

    private let wanted: WatchedNames
    private let own: Int32
    private let tick: TimeSpan
    private var lives: [Int32: Life] = [:]
    /// Of threads that are about to end. An id may be another thread's before the first one's end was
    /// told.
    private var costs: [Int32: [ThreadCosts]] = [:]
    private var ended: [WatchedLaunch] = []
    private(set) var tally = WatchTally()

    /// As long as a file's name may be.
    private static let mostNameBytes = 255
    /// A process that executes one program after the other has no launch with an end to it.
    static let mostImages = 64
    /// Of the CPU time, by which it may be wrong: a fiftieth.
    private static let precision: Int64 = 50

    /// - Parameters:
    ///   - own: our process, whose children have no launches.
    ///   - tick: how often the kernel brings the CPU time of a running thread up to date, by which it is
    ///     too short when that ends.
    init(of wanted: WatchedNames, own: Int32, tick: TimeSpan) {
        (self.wanted, self.own, self.tick) = (wanted, own, tick)
    }

    /// Launches that ended since the last call, in that order.
    mutating func take() -> [WatchedLaunch] {
        defer { ended = [] }
        return ended
    }

    /// How many launches of watched programs are not over.
    var running: Int { lives.values.count { $0.watched != nil } }

    /// When the first of a program's launches began that are not over; nil: there are none.
    func earliest(of program: WatchedProgram, since limit: MonotonicTime) -> MonotonicTime? {
        lives.values.filter { life in
            life.begun >= limit
                && life.watched.map {
                    ($0.program.executable, $0.program.name)
                        == (program.executable, program.name)
                } ?? false
        }.map(\.begun).min()
    }

    /// When a process began, or executed what it runs; nil: not known.
    func latest(of pid: Int32) -> MonotonicTime? {
        lives[pid].map { $0.images.last?.time ?? $0.begun }
    }

    /// Whether a watched launch is over with an event.
    func isEnded(by event: ProcessEvent) -> Bool {
        guard case .threadEnded(let pid, let tid, _) = event.kind, let life = lives[pid] else {
            return false
        }
        return life.watched != nil && life.threads == [tid]
    }

    // MARK: What the kernel tells

    /// - Parameters:
    ///   - program: what an exec led to; nil: not known.
    ///   - clock: the CPU time of a process that has just ended; nil: it is not known any more.
    /// - Returns: true if a watched program has been executed, in a launch that was seen from its begin.
    @discardableResult
    mutating func add(
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

    mutating func add(_ news: ThreadCosts.News) { costs[news.tid, default: []].append(news.costs) }

    /// What processes had used may be missing from now on for those that run.
    mutating func lostCosts() {
        costs = [:]
        for pid in lives.keys {
            lives[pid]?.costs = nil
            lives[pid]?.childCosts = nil
        }
    }

    /// So many events were lost: what is known of all that run may be wrong.
    mutating func lost(_ count: Int64) {
        tally.lostEvents += count
        tally.partial += running
        lives = [:]
        costs = [:]
    }

    // MARK: Processes

    private mutating func begin(_ pid: Int32, _ parent: Int32, _ time: MonotonicTime) {
        // The end of who had the number before was not told.
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
        // Whichever thread did, the others have ended.
        life.threads = [pid]
        if found == nil, !life.isUnnamed {
            tally.unnamed += 1
            life.isUnnamed = true
        }
        // One more than that shows that there are too many.
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
        // What it is called, and no more: it is kept as long as the process lives.
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
        // Others than those that are known ended in an exec, and are told of late.
        guard life.threads.remove(tid) != nil else { return }
        life.endedThreads += 1
        if let costs = life.costs { life.costs = used.map { costs + $0 } }
        guard life.threads.isEmpty else {
            lives[pid] = life
            return
        }
        lives[pid] = nil
        let all = life.costs.flatMap { own in life.childCosts.map { own + $0 } }
        // By now the parent's number may be another's.
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

    /// What threads had used is too short by up to a tick each. The process's clock is exact, if it is
    /// still that process's.
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
