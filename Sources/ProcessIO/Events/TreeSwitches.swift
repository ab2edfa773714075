package import ProfileModel
import System

/// When each thread of a tree of processes has a core.
package struct TreeSwitches {
    /// Not returned yet: another core may still report something older.
    private var waiting: [SchedulerRecord] = []
    private var lastTaken = MonotonicTime.now
    /// The time of the last record. Later records may be lost.
    private var latest = MonotonicTime.now

    package mutating func addLoss(_ record: PerfRecords.Record) {
        guard let time = record.time else { return }
        waiting.append(SchedulerRecord(time, 0, .lost(since: min(latest, time))))
    }

    package mutating func add(_ record: PerfRecords.Record) {
        guard let time = record.time, let tid = record.tid else { return }
        latest = time
        if let child = record.child {
            waiting.append(SchedulerRecord(time, child.tid, .began(creator: tid)))
        } else if let kind = record.switching {
            waiting.append(SchedulerRecord(time, tid, kind))
        }
    }

    package mutating func take(isLast: Bool) -> [SchedulerRecord] {
        let limit = lastTaken
        lastTaken = .now
        waiting.sort { $0.time < $1.time }
        let count =
            isLast ? waiting.count : waiting.firstIndex { $0.time >= limit } ?? waiting.count
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }
}
