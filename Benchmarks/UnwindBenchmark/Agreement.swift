@preconcurrency import Glibc
import ProfileModel
import Unwind

/// The same snapshots by our walks and by libunwind: lines of a class of agreement and how many stacks
/// are of it, and what a frame costs libunwind.
enum Agreement {
    /// Of two stacks of one snapshot.
    private enum Class: String, CaseIterable {
        case same = "the same, complete"
        case sameEnd = "the same, truncated"
        case libraryEnds = "libunwind ends earlier"
        case ownEnds = "ours ends earlier"
        case differ = "complete, and different"
        case differTruncated = "different before one is truncated"
    }

    /// Shown of those that differ.
    private static let mostExamples = 4

    static func write(_ load: Load) {
        let own = Unwinder()
        let library = Unwinder(engine: .libunwind)
        // Every stack needs the second opinion.
        let opinion = SecondOpinion(share: 1)
        let bare = Unwinder(opinion: opinion)
        bare.hasRules = false
        var counts: [Class: Int] = [:]
        var (complete, saved, frames, examples) = (0, 0, 0, 0)
        var taken: Int64 = 0
        for stretch in load.stretches {
            let time = MonotonicTime(nanoseconds: 0)
            for unwinder in [own, library, bare] { _ = unwinder.update(stretch.mappings, at: time) }
            for sample in stretch.samples {
                let first = own.unwind(sample.snapshot)
                let start = nanoseconds
                let second = library.unwind(sample.snapshot)
                taken += nanoseconds - start
                frames += second.frames.count
                let found = classify(first, second)
                counts[found, default: 0] += 1
                if first.truncation == nil {
                    complete += 1
                    if bare.unwind(sample.snapshot).truncation == nil { saved += 1 }
                }
                if found != .same, found != .sameEnd, examples < mostExamples {
                    examples += 1
                    show(found, first, second, own.modules)
                }
            }
        }
        for kind in Class.allCases { print("\(kind.rawValue): \(counts[kind] ?? 0)") }
        print("libunwind, a frame: \(taken / Int64(max(1, frames))) ns")
        print("complete by ours: \(complete)")
        print("of those complete without our rules: \(saved)")
    }

    private static func classify(_ first: Callstack, _ second: Callstack) -> Class {
        let length = zip(first.frames, second.frames).prefix { $0 == $1 }.count
        let isPrefix = length == min(first.frames.count, second.frames.count)
        switch (first.truncation == nil, second.truncation == nil) {
        case (true, true):
            return isPrefix && first.frames.count == second.frames.count ? .same : .differ
        case (false, false) where isPrefix && first.frames.count == second.frames.count:
            return .sameEnd
        default:
            guard isPrefix else { return .differTruncated }
            return second.truncation != nil && second.frames.count <= first.frames.count
                ? .libraryEnds : .ownEnds
        }
    }

    private static func show(
        _ found: Class, _ first: Callstack, _ second: Callstack, _ modules: [Module]
    ) {
        func place(_ frame: FrameAddress?) -> String {
            guard let frame else { return "-" }
            let name = frame.module.map {
                modules[$0.rawValue].path.split(separator: "/").last ?? ""
            }
            return "\(name ?? "?")+0x\(String(frame.address.value, radix: 16))"
        }
        fputs("\(found.rawValue):\n", stderr)
        for index in 0..<max(first.frames.count, second.frames.count) {
            let own = index < first.frames.count ? first.frames[index] : nil
            let other = index < second.frames.count ? second.frames[index] : nil
            fputs("  \(own == other ? " " : "*") \(place(own))   \(place(other))\n", stderr)
        }
        fputs(
            "  \(first.truncation?.label ?? "complete")   \(second.truncation?.label ?? "complete")\n",
            stderr)
    }

    private static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
