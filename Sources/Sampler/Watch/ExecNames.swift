import ProfileModel

/// What programs processes executed, as the kernel told it while they did: the name by which it was
/// executed, and the first code that was mapped, which is the program's own.
///
/// Pure: it is told of both in the order in which they happened on each core.
struct ExecNames {
    struct Name: Hashable, Sendable {
        var time: MonotonicTime
        /// At most 15 bytes.
        var command: String
        /// Of the executable; empty: not told.
        var path = ""
        var inode: UInt64 = 0
    }

    /// Those that nobody has asked for.
    private var names: [Int32: [Name]] = [:]

    /// Names of processes that execute one program after the other, faster than anybody asks.
    private static let mostOfOne = 64

    mutating func executed(_ pid: Int32, command: String, at time: MonotonicTime) {
        guard names[pid]?.count ?? 0 < Self.mostOfOne else { return }
        names[pid, default: []].append(Name(time: time, command: command))
    }

    /// Later code of the program's, its libraries' and its children's changes nothing.
    mutating func mapped(_ pid: Int32, path: String, inode: UInt64) {
        guard let last = names[pid]?.indices.last, names[pid]?[last].path == "" else { return }
        names[pid]?[last].path = path
        names[pid]?[last].inode = inode
    }

    /// The program that a process had executed at a moment, and forgets those before it; nil: it was
    /// not told.
    ///
    /// - Parameter earliest: when it began, or executed the one before.
    mutating func take(
        _ pid: Int32, after earliest: MonotonicTime?, upTo time: MonotonicTime
    ) -> Name? {
        guard let known = names.removeValue(forKey: pid) else { return nil }
        let later = known.filter { $0.time > time }
        if !later.isEmpty { names[pid] = later }
        let last = known.last { $0.time <= time }
        return last.flatMap { $0.time >= earliest ?? $0.time ? $0 : nil }
    }

    mutating func forgetAll() { names = [:] }
}

extension ExecNames {
    /// Takes a ring's records.
    ///
    /// - Returns: whether some were lost.
    mutating func take(_ records: PerfRecords) -> Bool {
        var isIncomplete = false
        records.forEach { record in
            guard record.kind != .lost else {
                isIncomplete = true
                return
            }
            guard let pid = record.process, let time = record.time else { return }
            if record.isExec {
                executed(pid, command: record.name, at: time)
            } else if let mapping = record.mapping {
                mapped(pid, path: mapping.path, inode: mapping.inode)
            }
        }
        return isIncomplete
    }
}
