import ProfileModel
import Sampler
import Unwind

/// Turns samples into slices: unwinds their stacks, interns them, and keeps for each thread the
/// stack that "unchanged" refers to.
struct SliceBuilder: ~Copyable {
    let unwinder: Unwinder
    private(set) var stacks = StackTable()
    private var threads: [ThreadState] = []

    private struct ThreadState {
        var stack: StackID?
        var truncation: Truncation?
        /// The slices of a stretch of being blocked whose stack could not be finished from
        /// memory alone: the registers may still come.
        var held: [Slice] = []
        var heldBlocking: UInt32 = 0

        /// Hands out the slices held back, with the stack of `final` if there is one.
        mutating func release(into outcome: inout Outcome, with final: Slice? = nil) {
            for var slice in held {
                if let final { (slice.stack, slice.truncation) = (final.stack, final.truncation) }
                outcome.slices.append(slice)
            }
            held.removeAll()
            heldBlocking = 0
        }
    }

    init(unwinder: Unwinder) {
        self.unwinder = unwinder
    }

    /// What one sample led to: slices that are ready, and a request for the thread's registers.
    struct Outcome {
        var slices: [Slice] = []
        var request: StackRequest?
    }

    mutating func add(_ sample: Sample) -> Outcome {
        let index = sample.thread.rawValue
        while threads.count <= index { threads.append(ThreadState()) }
        var outcome = Outcome()
        var thread = threads[index]
        defer { threads[index] = thread }
        let isSameStretch = sample.blocking != 0 && sample.blocking == thread.heldBlocking
        let isNew = unwind(sample, into: &thread)
        let slice = Slice(
            thread: sample.thread, start: sample.start, times: sample.times,
            stack: thread.stack, systemCall: sample.systemCall, truncation: thread.truncation)

        if isSameStretch, isNew {
            // What was dropped on the way here says nothing about the stack.
            thread.release(into: &outcome, with: slice.stack == nil ? nil : slice)
            thread.heldBlocking = sample.blocking
        } else if !isSameStretch {
            thread.release(into: &outcome)
        }
        if sample.blocking != 0, slice.truncation == .unknownRegister {
            if !isSameStretch {
                thread.heldBlocking = sample.blocking
                outcome.request = StackRequest(thread: sample.thread, blocking: sample.blocking)
            }
            thread.held.append(slice)
        } else {
            outcome.slices.append(slice)
        }
        return outcome
    }

    /// The stack of a thread's last sample.
    func stack(of thread: ThreadIndex) -> StackID? {
        threads.indices.contains(thread.rawValue) ? threads[thread.rawValue].stack : nil
    }

    /// A stack that belongs to no slice.
    mutating func intern(_ snapshot: Snapshot) -> StackID? {
        stacks.intern(outermostFirst: unwinder.unwind(snapshot).frames.reversed())
    }

    /// A stack of one frame.
    mutating func intern(_ frame: FrameAddress) -> StackID {
        stacks.intern(parent: nil, frame: frame)
    }

    /// The slices that were still held back, at the recording's end.
    mutating func flush() -> [Slice] {
        var outcome = Outcome()
        for index in threads.indices { threads[index].release(into: &outcome) }
        return outcome.slices
    }

    /// Whether the sample brought a stack of its own.
    private mutating func unwind(_ sample: Sample, into thread: inout ThreadState) -> Bool {
        switch sample.content {
        case .unchanged:
            return false
        case .none:
            (thread.stack, thread.truncation) = (nil, nil)
        case .missing(let reason):
            (thread.stack, thread.truncation) = (nil, reason)
        case .snapshot(let snapshot):
            let callstack = unwinder.unwind(snapshot)
            thread.stack = stacks.intern(outermostFirst: callstack.frames.reversed())
            thread.truncation = callstack.truncation
        }
        return true
    }
}
