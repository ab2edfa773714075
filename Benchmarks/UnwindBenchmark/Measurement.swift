import Glibc
import ProfileModel
import Unwind

/// Lines of a name and a figure: nanoseconds are of the thread's CPU time and for one frame.
struct Measurement {
    private static let passes = 9
    private static let few = 8
    private static let repetitions = 400

    private let load: Load

    init(_ load: Load) { self.load = load }

    func write() async {
        let unwinder = Unwinder()
        var result = Pass()
        let cold = Self.time(of: &result) { unwind(with: unwinder, &$0) }
        line("samples", load.count)
        line("frames", result.frames)
        line("complete", result.complete)
        for (reason, count) in result.truncated.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            line("truncated (\(reason.label))", count)
        }
        line("cold", cold)
        line("hits", unwinder.cacheFigures.hits)
        line("misses", unwinder.cacheFigures.misses)
        for _ in 0..<Self.passes {
            var pass = Pass()
            line("memory", Self.time(of: &pass) { unwind(with: unwinder, &$0) })
        }
        var interner = StackInterner(unwinder: unwinder)
        for _ in 0..<Self.passes {
            var pass = Pass()
            line("interned", Self.time(of: &pass) { intern(with: &interner, &$0) })
        }
        for _ in 0..<Self.passes {
            var pass = Pass()
            line("cached", Self.time(of: &pass) { unwindAFew(with: unwinder, &$0) })
        }
        await line("two threads", timeOfTwoThreads())
    }

    private func line(_ name: String, _ value: Double) {
        print("\(name): \((value * 100).rounded() / 100)")
    }

    private func line(_ name: String, _ value: Int) { print("\(name): \(value)") }

    private struct Pass: Sendable {
        var frames = 0
        var complete = 0
        var truncated: [Truncation: Int] = [:]

        mutating func add(_ truncation: Truncation?, _ frames: Int) {
            self.frames += frames
            if let truncation {
                truncated[truncation, default: 0] += 1
            } else {
                complete += 1
            }
        }
    }

    private static func time(of pass: inout Pass, _ body: (inout Pass) -> Void) -> Double {
        let start = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
        body(&pass)
        return (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start) / Double(max(1, pass.frames))
    }

    private static func nanoseconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// All samples, with the mappings as they were.
    private func unwind(with unwinder: Unwinder, _ pass: inout Pass) {
        unwind(with: unwinder, share: 0, of: 1, &pass)
    }

    /// One of several equal parts of each stretch.
    private func unwind(with unwinder: Unwinder, share: Int, of shares: Int, _ pass: inout Pass) {
        var buffer = FrameBuffer()
        let isAgain = !unwinder.modules.isEmpty
        for stretch in load.stretches {
            // Rules that are known from a pass before are not thrown away.
            let mappings = isAgain && load.onlyAdds ? load.lastMappings : stretch.mappings
            _ = unwinder.update(mappings, at: MonotonicTime(nanoseconds: 0))
            let count = stretch.samples.count
            let part = count * share / shares..<count * (share + 1) / shares
            // In place: a copy would touch each stack's memory, and wait for it.
            let samples = stretch.samples.span
            for index in part {
                // What comes next is on its way from memory meanwhile.
                if index + 1 < part.upperBound { Unwinder.prepare(samples[index + 1].snapshot) }
                let truncation = unwinder.unwind(samples[index].snapshot, into: &buffer)
                pass.add(truncation, buffer.count)
            }
        }
    }

    /// What the recorder does with each sample: from the snapshot to its handle in the table of stacks.
    private func intern(with interner: inout StackInterner, _ pass: inout Pass) {
        for stretch in load.stretches {
            let mappings = load.onlyAdds ? load.lastMappings : stretch.mappings
            _ = interner.unwinder.update(mappings, at: MonotonicTime(nanoseconds: 0))
            let samples = stretch.samples.span
            for index in samples.indices {
                let (_, truncation) = interner.intern(samples[index].snapshot)
                pass.add(truncation, interner.frameCount)
            }
        }
    }

    /// The same few snapshots again and again: they stay in the processor's cache.
    private func unwindAFew(with unwinder: Unwinder, _ pass: inout Pass) {
        guard
            let stretch = load.stretches.max(by: { $0.samples.count < $1.samples.count })
        else { return }
        let samples = stretch.samples
        let chosen = (0..<Self.few).map { samples[samples.count * $0 / Self.few].snapshot }
        var buffer = FrameBuffer()
        for _ in 0..<Self.repetitions {
            for snapshot in chosen {
                let truncation = unwinder.unwind(snapshot, into: &buffer)
                pass.add(truncation, buffer.count)
            }
        }
    }

    /// By the clock on the wall: two threads, each with an unwinder of its own, from its making on.
    private func timeOfTwoThreads() async -> Double {
        let start = Self.nanoseconds(CLOCK_MONOTONIC)
        let frames = await withTaskGroup(of: Int.self) { group in
            for share in 0..<2 {
                group.addTask {
                    var pass = Pass()
                    unwind(with: Unwinder(), share: share, of: 2, &pass)
                    return pass.frames
                }
            }
            return await group.reduce(0, +)
        }
        return (Self.nanoseconds(CLOCK_MONOTONIC) - start) / Double(max(1, frames))
    }
}
