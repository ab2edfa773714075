import ProfileModel
import Sampler

/// Gives numbers to the processes that the recorded one starts, and passes their events to the
/// recording. Used on the sampling thread only.
final class FollowedChildren: ChildObserver, @unchecked Sendable {
    private let queue: EventQueue
    private var count = 0
    /// The running children by process id. The id may be used again when its process has ended.
    private var running: [Int32: ChildIndex] = [:]
    /// How many children were not followed because there were too many.
    private(set) var unfollowed: Int64 = 0

    private let most: Int

    /// The most children that are followed. A program that forks for ever must not fill the disk,
    /// and a large build starts fewer.
    static let usualMost = 100_000

    init(queue: EventQueue, most: Int = usualMost) {
        self.queue = queue
        self.most = most
    }

    func began(_ pid: Int32, parent: Int32, at time: MonotonicTime) -> (any SampleSink)? {
        guard count < most else {
            unfollowed += 1
            return nil
        }
        let index = ChildIndex(count)
        count += 1
        let child = ChildProcess(
            pid: pid, parent: parent, parentIndex: running[parent], name: "", start: time)
        running[pid] = index
        queue.receive(.began(child))
        return ChildSink(queue: queue, child: index)
    }

    func ended(_ pid: Int32, _ outcome: SamplerOutcome, at time: MonotonicTime) {
        guard let index = running.removeValue(forKey: pid) else { return }
        queue.receive(.ended(index, outcome, at: time))
    }
}

/// Receives the events of one child.
private final class ChildSink: SampleSink {
    private let queue: EventQueue
    private let child: ChildIndex

    init(queue: EventQueue, child: ChildIndex) {
        self.queue = queue
        self.child = child
    }

    func receive(_ event: SamplerEvent) { queue.receive(event, of: child) }
    func takeRefinements() -> [StackRefinement] { queue.takeRefinements(of: child) }
    var hasFailed: Bool { queue.hasFailed }
}
