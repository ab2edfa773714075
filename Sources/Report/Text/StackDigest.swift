import Analysis
import ProfileModel

/// Chooses the frames of a long stack to show: its ends, the developer's own code, and between them
/// the frames that tell where the time goes, where the weight drops or another module begins.
struct StackDigest {
    enum Row {
        case frame(HeaviestStack.Entry)
        /// This many frames are left out.
        case elided(Int)
    }

    let path: [HeaviestStack.Entry]
    let weight: Weight
    let frames: FrameTable

    /// A stack with this many frames is shown completely.
    private static let longest = 24
    /// How many frames are shown at the outer and at the inner end, and how many own ones at both
    /// ends.
    private static let (outer, inner, ownOuter, ownInner) = (2, 6, 6, 10)
    /// More frames are added between them, up to this many lines.
    private static let mostLines = 32
    /// The value of entering a named function in another module, as a share of the weight.
    private static let entry = 0.02

    func rows() -> [Row] {
        guard path.count > Self.longest else { return path.map(Row.frame) }
        let own = path.indices.filter { frames.function(of: path[$0].frame).isOwn }
        var kept = Set(own.prefix(Self.ownOuter) + own.suffix(Self.ownInner))
        kept.formUnion(path.indices.prefix(Self.outer))
        kept.formUnion(path.indices.suffix(Self.inner))
        var shown = rows(of: kept)
        for landmark in landmarks where kept.insert(landmark).inserted {
            let more = rows(of: kept)
            guard more.count <= Self.mostLines else { break }
            shown = more
        }
        return shown
    }

    /// The frames to show, without lines for the elided ones: the innermost frames, the innermost
    /// own frames, and the most informative frames between them.
    func most(_ count: Int) -> [HeaviestStack.Entry] {
        guard path.count > count else { return path }
        let own = path.indices.filter { frames.function(of: path[$0].frame).isOwn }
        var kept: Set<Int> = []
        for index in path.indices.suffix(2) + own.reversed().prefix(count / 2) + own.prefix(1)
            + landmarks + own + Array(path.indices)
        where kept.count < count {
            kept.insert(index)
        }
        return kept.sorted().map { path[$0] }
    }

    private func rows(of kept: Set<Int>) -> [Row] {
        var result: [Row] = []
        var elided: [HeaviestStack.Entry] = []
        func flush() {
            // A line for one missing frame takes as much room as the frame itself.
            result += elided.count == 1 ? elided.map(Row.frame) : []
            result += elided.count > 1 ? [.elided(elided.count)] : []
            elided = []
        }
        for index in path.indices {
            if kept.contains(index) {
                flush()
                result.append(.frame(path[index]))
            } else {
                elided.append(path[index])
            }
        }
        flush()
        return result
    }

    // MARK: Landmarks

    /// The most informative frames come first.
    private var landmarks: [Int] {
        var values: [Int: Double] = [:]
        for index in path.indices.dropFirst() {
            let drop = share(index - 1) - share(index)
            let enters = module(index) != module(index - 1)
            guard drop > 0 || enters else { continue }
            let telling = named(from: index)
            let value = max(drop, enters && telling != nil ? Self.entry : 0)
            let place = telling ?? index
            if value > 0 { values[place] = max(values[place] ?? 0, value) }
        }
        return values.keys.sorted { left, right in
            let (first, second) = (values[left] ?? 0, values[right] ?? 0)
            return first != second ? first > second : left < right
        }
    }

    /// The first named function from there inwards with the same module and weight; nil: there is
    /// none.
    private func named(from index: Int) -> Int? {
        path.indices[index...].prefix {
            module($0) == module(index) && share($0) == share(index)
        }.first { !frames.function(of: path[$0].frame).isUnnamed }
    }

    private func module(_ index: Int) -> String { frames.function(of: path[index].frame).module }

    private func share(_ index: Int) -> Double {
        guard let whole = path.first.map({ weight.of($0.total).nanoseconds }), whole > 0 else {
            return 0
        }
        return Double(weight.of(path[index].total).nanoseconds) / Double(whole)
    }
}
