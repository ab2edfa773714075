import ProfileModel

/// Divides parts at the borders of intervals and initialisers.
///
/// It always divides at all borders, whichever of them a query needs. So each piece is the same in
/// every query, and the times of several intervals add up to their joint time, to the nanosecond.
struct PartCutter {
    /// Since the launch's start; in order, each once.
    let borders: [TimeSpan]

    init(_ borders: some Sequence<TimeSpan>) {
        var sorted: [TimeSpan] = []
        for border in borders.sorted() where border != sorted.last { sorted.append(border) }
        self.borders = sorted
    }

    /// Calls `body` with each piece of a part (its times may be zero) and the position of the first
    /// border after it (for the last piece: how many borders there are).
    func cut(
        _ part: Profile.Part, _ body: (_ piece: Profile.Part, _ border: Int) -> Void
    ) {
        var border = borders.partitionIndex { $0 > part.start }
        var rest = part
        let end = part.end
        while border < borders.count, borders[border] < end {
            body(Self.split(&rest, at: borders[border]), border)
            border += 1
        }
        body(rest, border)
    }

    /// The part of `part` before `time`, which is removed from it.
    private static func split(_ part: inout Profile.Part, at time: TimeSpan) -> Profile.Part {
        var piece = part
        piece.times = part.times.prefix(wall: time - part.start)
        part.times = part.times - piece.times
        part.start = piece.end
        return piece
    }

    /// The CPU time of `parts` from the launch's start up to each border.
    func cpuUpToBorders(_ parts: some Sequence<Profile.Part>) -> [TimeSpan] {
        var result = [TimeSpan](repeating: .zero, count: borders.count)
        // A part that never ran need not be divided.
        for part in parts where part.times.running > .zero {
            cut(part) { piece, border in
                guard border < result.count else { return }
                result[border] = result[border] + piece.times.running
            }
        }
        for index in result.indices.dropFirst() {
            result[index] = result[index] + result[index - 1]
        }
        return result
    }

    func index(of border: TimeSpan) -> Int? {
        let index = borders.partitionIndex { $0 >= border }
        return index < borders.count && borders[index] == border ? index : nil
    }
}

extension Profile.Part {
    var end: TimeSpan { start + times.wall }
}

extension Profile {
    /// Calls `body` with every part that belongs to the selection. If a part lies only partly in
    /// its windows, `body` gets the pieces that do. The order has no meaning.
    func forEachPart(in selection: Selection, _ body: (Part) -> Void) {
        forEachPiece(in: selection) { piece, _ in body(piece) }
    }

    /// The same, but also passes the position of each piece's part.
    func forEachPiece(in selection: Selection, _ body: (Part, Int) -> Void) {
        guard !selection.isOfMainThread else {
            for part in selection.divided(by: mainThread) { forEachPiece(in: part, body) }
            return
        }
        let takesPhase = phases.indices.map { selection.phases?.contains($0) ?? true }
        let takesThread = threads.indices.map { selection.threads?.contains($0) ?? true }
        guard let windows = selection.windows else {
            for (position, part) in parts.enumerated()
            where takesPhase[Int(part.phase)] && takesThread[Int(part.thread)] {
                body(part, position)
            }
            return
        }
        // Windows from other sources need not begin and end at borders.
        let edges = windows.ranges.flatMap { [$0.lowerBound, $0.upperBound] }
        let isCutThere = edges.allSatisfy { cutter.index(of: $0) != nil }
        let knife = isCutThere ? cutter : PartCutter(cutter.borders + edges)
        for thread in threads.indices where takesThread[thread] {
            partIndex.forEach(of: thread, in: parts, near: windows) { part, position in
                guard takesPhase[Int(part.phase)] else { return }
                within(windows, part, knife) { body($0, position) }
            }
        }
    }

    /// Calls `body` with the pieces of a part that lie in the windows. These begin and end at the
    /// cutter's borders.
    private func within(
        _ windows: TimeWindows, _ part: Part, _ knife: PartCutter, _ body: (Part) -> Void
    ) {
        let first = windows.first(endingAfter: part.start)
        guard first < windows.ranges.count, windows.ranges[first].lowerBound < part.end else {
            return
        }
        if windows.ranges[first].lowerBound <= part.start,
            windows.ranges[first].upperBound >= part.end
        {
            return body(part)
        }
        knife.cut(part) { piece, _ in
            guard piece.times != .zero else { return }
            let window = windows.first(endingAfter: piece.start)
            guard window < windows.ranges.count, windows.ranges[window].lowerBound <= piece.start
            else { return }
            body(piece)
        }
    }
}
