package import ProcessIO
package import ProfileModel

/// The programs that processes executed, as the kernel reported them at the time: the name by which
/// each was executed, and its first mapped code, which is the program's own.
///
/// Pure: it receives both kinds of events in the order in which they happened on each core.
package struct ExecNames {
    package struct Name: Hashable, Sendable {
        package var time: MonotonicTime
        /// At most 15 bytes.
        package var command: String
        /// The executable's path; empty: not reported.
        package var path = ""
        package var inode: UInt64 = 0
    }

    /// Names that have not been taken yet.
    private var names: [Int32: [Name]] = [:]

    /// For processes that execute one program after another, faster than we take the names.
    private static let mostOfOne = 64

    package mutating func executed(_ pid: Int32, command: String, at time: MonotonicTime) {
        guard names[pid]?.count ?? 0 < Self.mostOfOne else { return }
        names[pid, default: []].append(Name(time: time, command: command))
    }

    /// Only the first mapping counts: later ones are the program's other code, its libraries, or
    /// its children.
    package mutating func mapped(_ pid: Int32, path: String, inode: UInt64) {
        guard let last = names[pid]?.indices.last, names[pid]?[last].path == "" else { return }
        names[pid]?[last].path = path
        names[pid]?[last].inode = inode
    }

    /// The program that a process had executed at a moment; nil: not reported. Forgets earlier
    /// ones.
    ///
    /// - Parameter earliest: when the process began, or executed its previous program.
    package mutating func take(
        _ pid: Int32, after earliest: MonotonicTime?, upTo time: MonotonicTime
    ) -> Name? {
        guard let known = names.removeValue(forKey: pid) else { return nil }
        let later = known.filter { $0.time > time }
        if !later.isEmpty { names[pid] = later }
        let last = known.last { $0.time <= time }
        return last.flatMap { $0.time >= earliest ?? $0.time ? $0 : nil }
    }

    /// Some events were lost: the next mapped code need not be the first.
    package mutating func lost() {
        for (pid, known) in names where known.last?.path == "" {
            names[pid] = known.count > 1 ? Array(known.dropLast()) : nil
        }
    }

    /// A process has ended.
    package mutating func forget(_ pid: Int32, upTo time: MonotonicTime) {
        guard let known = names[pid] else { return }
        let later = known.filter { $0.time > time }
        names[pid] = later.isEmpty ? nil : later
    }

    package mutating func forgetAll() { names = [:] }
}

extension ExecNames {
    /// An event from a ring.
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

    /// Takes the events of all cores: a process may move to another core in the middle of an exec.
    package mutating func take(_ rings: [PerfRing]) {
        var news: [News] = []
        for ring in rings {
            ring.forEach { record in
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
