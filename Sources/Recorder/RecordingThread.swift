import Glibc
import ProfileModel
import Recording
import Sampler
import System
import Unwind

/// The recorder's other thread. It takes the sampler's events of all processes, unwinds the stacks
/// and writes everything to the file.
final class RecordingThread: @unchecked Sendable {
    let path: String
    private let header: Recording.Header
    private let queue: EventQueue
    private let engine: UnwindEngine
    private let tell: (@Sendable (RecordingProgress) -> Void)?
    private let nodeStart: Int?
    /// Only the thread itself uses this, until it is joined; nil: everything is kept.
    private var window: RecordingWindow?
    /// nil: not started, or joined.
    private var thread: JobThread<Void>?

    // Only the thread itself uses these, until it is joined.
    private var output: RecordingOutput?
    /// The recorded process; nil: it has not begun.
    private var process: ObservedProcess?
    /// The running children. Of an ended child only its row is left, because a program may start
    /// thousands.
    private var children: [ChildIndex: FollowedChild] = [:]
    private var begunChildren = 0
    /// Counts of events lost for children that have ended.
    private var childNotes: [RecorderNote] = []
    /// For how long children's threads were stopped, in all.
    private var childrenHeld = TimeSpan.zero
    private(set) var pid: Int32 = 0
    private var lastCommit = MonotonicTime.now
    private var progress = RecordingProgress()
    private var lastTold = MonotonicTime.now
    private(set) var failure: RecordingError?
    private(set) var identity: RecordingFile.Identity?
    let held = HeldFiles()

    private struct FollowedChild {
        var process: ObservedProcess
        var row: ChildProcess
        /// The sampler's number for the parent.
        var parent: ChildIndex?
    }

    /// - Parameters:
    ///   - last: how much is kept, as ``Recorder/last``.
    ///   - nodeStart: as ``Recorder/nodeStart``.
    ///   - tell: called with the progress, as ``Recorder/tellProgress``.
    init(
        path: String, header: Recording.Header, queue: EventQueue,
        engine: UnwindEngine = .quick, last: TimeSpan? = nil, nodeStart: Int? = nil,
        tell: (@Sendable (RecordingProgress) -> Void)? = nil
    ) {
        self.path = path
        self.header = header
        self.queue = queue
        self.engine = engine
        self.tell = tell
        self.nodeStart = nodeStart
        window = last.map { RecordingWindow($0, path: path) }
    }

    func start() -> Bool {
        thread = JobThread { self.run() }
        return thread != nil
    }

    /// Waits until all events are written; then completes the file.
    func finish(_ notes: [RecorderNote], _ complete: (inout Recording.Header) -> Void) {
        queue.finish()
        thread?.join()
        thread = nil
        guard let output else { return }
        var header = header
        header.pid = pid
        header.lostSamples = queue.lostSamples
        complete(&header)
        header.heldByProfiler = header.heldByProfiler + childrenHeld
        attempt { () throws(RecordingError) in
            for note in notes.adding(losses(output)) { try output.file.append(note) }
            try output.file.finish(header)
            guard let window, window.hasPartBefore else { return }
            identity = try window.join(identity)
        }
    }

    /// Notes on events lost on the way here, and on children.
    private func losses(_ output: RecordingOutput) -> [RecorderNote] {
        childNotes + [
            RecorderNote(.lostSignposts, queue.lostSignposts),
            RecorderNote(.lostSwitches, output.schedule.losses),
            RecorderNote(.unkeptRuns, output.schedule.unkept),
            RecorderNote(.secondOpinions, output.opinion.saved),
            RecorderNote(.unreadFrames, output.functions.unread),
            RecorderNote(.partlyReadFrames, output.functions.partlyRead),
            RecorderNote(.unnamedFunctions, output.functions.unnamed),
            RecorderNote(.libraryUnwinder, engine == .libunwind ? 1 : 0),
            RecorderNote(.window, window.map { $0.hasPartBefore ? $0.length.nanoseconds : 0 } ?? 0),
        ]
    }

    private func run() {
        // This thread's work can wait; the program's threads should not.
        pushNobodyOff()
        var events: [QueuedEvent] = []
        while queue.next(into: &events) {
            process?.expectMore()
            for child in children.values { child.process.expectMore() }
            attempt { () throws(RecordingError) in
                for event in events {
                    try take(event)
                    try turnIfDue(after: event)
                }
                handOver()
                try output?.writeFinished()
                try commitIfDue()
            }
            if let tell { tellIfDue(tell, events) }
        }
        output?.schedule.finishEnded()
        attempt { () throws(RecordingError) in
            try process?.finish()
            for index in children.keys.sorted() { try children[index]?.process.finish() }
            try output?.writeAll()
        }
    }

    /// Hands over the complete slices of all processes.
    private func handOver() {
        process?.handOver()
        for child in children.values { child.process.handOver() }
    }

    /// After the first failure, nothing more is written, and the sampler is notified.
    private func attempt(_ body: () throws(RecordingError) -> Void) {
        guard failure == nil else { return }
        do throws(RecordingError) {
            try body()
        } catch {
            failure = error
            queue.fail()
        }
    }

    /// How often to commit. A recorder that is killed loses at most this much.
    private static let commitInterval = TimeSpan.milliseconds(500)

    private func commitIfDue() throws(RecordingError) {
        guard let output, MonotonicTime.now - lastCommit >= Self.commitInterval else { return }
        lastCommit = .now
        try output.commit()
    }

    // MARK: The last stretch alone

    private func turnIfDue(after event: QueuedEvent) throws(RecordingError) {
        guard case .observed(let event, _) = event, window?.isFull(after: event) == true
        else { return }
        try turn()
    }

    /// The part that is being written becomes the part before, and a new part begins.
    private func turn() throws(RecordingError) {
        guard let output, let process else { return }
        handOver()
        try process.handOverAll()
        for child in children.values { try child.process.handOverAll() }
        let going = [process] + children.values.map(\.process)
        output.schedule.finishEnded(but: Set(going.flatMap(\.places)))
        try output.writeAll()
        var header = header
        header.pid = pid
        try output.file.finish(header)
        guard let time = try window?.turn() else { return }
        do throws(RecordingError) {
            try goOn(after: output, process, at: time)
        } catch {
            // What we have is at the promised path.
            window?.turnBack()
            throw error
        }
    }

    private func goOn(
        after output: RecordingOutput, _ process: ObservedProcess, at time: MonotonicTime
    ) throws(RecordingError) {
        var header = header
        header.pid = pid
        header.isAttached = true
        let next = try RecordingOutput(
            RecordingWriter(creating: path, header: header), after: output)
        var numbers = try process.move(to: next, at: time)
        // Ended children have no row in the new file, and so cannot be parents there.
        for (index, child) in children.sorted(by: { $0.key < $1.key }) {
            var row = child.row
            row.parentIndex = child.parent.flatMap { children[$0]?.process.child }
            children[index]?.row = row
            let place = try next.file.append(row)
            numbers.merge(try child.process.move(to: next, at: time, place)) { $1 }
        }
        next.schedule.renumber(numbers)
        self.output = next
        identity = next.file.identity
        lastCommit = .now
        try next.commit()
    }

    /// The path of the part before, if the two parts could not be joined.
    var partBefore: String? {
        failure == nil || window?.hasPartBefore != true ? nil : window?.pathBefore
    }

    private static let tellInterval = TimeSpan.milliseconds(200)

    private func tellIfDue(
        _ tell: @Sendable (RecordingProgress) -> Void, _ events: [QueuedEvent]
    ) {
        for case .observed(let event, let child) in events {
            progress.note(event, ofChild: child != nil)
        }
        guard MonotonicTime.now - lastTold >= Self.tellInterval else { return }
        lastTold = .now
        tell(progress)
    }

    // MARK: Events

    private func take(_ event: QueuedEvent) throws(RecordingError) {
        switch event {
        case .observed(.began(let pid), of: nil): try begin(pid)
        case .observed(let event, of: nil): try take(event, of: process, nil)
        case .observed(let event, of: let child?):
            try take(event, of: children[child]?.process, child)
            switch event {
            case .image, .linked: try rename(child)
            default: break
            }
        case .child(.began(let child)): try begin(child)
        case .child(.ended(let child, let outcome, let time)):
            try end(child, outcome, at: time)
        }
    }

    private func take(
        _ event: SamplerEvent, of process: ObservedProcess?, _ child: ChildIndex?
    ) throws(RecordingError) {
        guard let refinement = try process?.take(event) else { return }
        queue.add(refinement, of: child)
    }

    /// The program runs. Only now does a new recording replace an older one.
    private func begin(_ pid: Int32) throws(RecordingError) {
        self.pid = pid
        try RecordingFile.keepOlder(at: path)
        try window?.begin()
        var header = header
        header.pid = pid
        let output = RecordingOutput(
            try RecordingWriter(creating: path, header: header), held: held, engine: engine,
            runs: window == nil ? ScheduleBuilder.usualLimit : ScheduleBuilder.usualLimit / 2)
        output.nodeStart = nodeStart
        self.output = output
        identity = output.file.identity
        process = ObservedProcess(pid, nil, output)
    }

    private func begin(_ news: ChildProcess) throws(RecordingError) {
        guard let output else { return }
        let child = ChildIndex(begunChildren)
        begunChildren += 1
        var row = news
        row.parentIndex = news.parentIndex.flatMap { children[$0]?.process.child }
        let place = try output.file.append(row)
        children[child] = FollowedChild(
            process: ObservedProcess(row.pid, child, at: place, output), row: row,
            parent: news.parentIndex)
    }

    /// A child executed a program.
    private func rename(_ child: ChildIndex) throws(RecordingError) {
        guard let name = children[child]?.process.name else { return }
        children[child]?.row.name = RecordedText.bounded(name)
        guard let renamed = children[child], let place = renamed.process.child else { return }
        try output?.file.update(renamed.row, at: place)
    }

    private func end(
        _ child: ChildIndex, _ outcome: SamplerOutcome, at time: MonotonicTime
    ) throws(RecordingError) {
        queue.dropRefinements(of: child)
        guard let ended = children.removeValue(forKey: child) else { return }
        try ended.process.finish()
        var row = ended.row
        row.end = max(row.start, time)
        row.cpu = outcome.cpu
        row.outcome = outcome.outcome
        row.capture = outcome.capture
        if let place = ended.process.child { try output?.file.update(row, at: place) }
        childNotes = childNotes.adding(outcome.notes)
        childrenHeld = childrenHeld + outcome.heldByProfiler
    }
}
