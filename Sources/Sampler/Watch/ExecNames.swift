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

    /// Some was not told: the next code that is mapped need not be the first.
    mutating func lost() {
        for (pid, known) in names where known.last?.path == "" {
            names[pid] = known.count > 1 ? Array(known.dropLast()) : nil
        }
    }

    /// A process has ended.
    mutating func forget(_ pid: Int32, upTo time: MonotonicTime) {
        guard let known = names[pid] else { return }
        let later = known.filter { $0.time > time }
        names[pid] = later.isEmpty ? nil : later
    }

    mutating func forgetAll() { names = [:] }
}

extension ExecNames {
    /// What a ring tells.
    private struct News {
        enum Kind {
            case executed(command: String)
            case mapped(path: String, inode: UInt64)
            case lost
        }

        var time: MonotonicTime
        var pid: Int32
        var kind: Kind
    }

    /// Takes what the rings of all cores tell: a process may go to another core in the midst of an exec.
    mutating func take(_ rings: [PerfRecords]) {
        var news: [News] = []
        for records in rings {
            records.forEach { record in
                if let piece = Self.news(record) { news.append(piece) }
            }
        }
        news.sort { $0.time < $1.time }
        for piece in news {
            switch piece.kind {
            case .executed(let command): executed(piece.pid, command: command, at: piece.time)
            case .mapped(let path, let inode): mapped(piece.pid, path: path, inode: inode)
            case .lost: lost()
            }
        }
    }

    private static func news(_ record: PerfRecords.Record) -> News? {
        guard let pid = record.process, let time = record.time else { return nil }
        if record.kind == .lost { return News(time: time, pid: pid, kind: .lost) }
        if record.isExec {
            return News(time: time, pid: pid, kind: .executed(command: record.name))
        }
        return record.mapping.map { mapping in
            News(time: time, pid: pid, kind: .mapped(path: mapping.path, inode: mapping.inode))
        }
    }
}
