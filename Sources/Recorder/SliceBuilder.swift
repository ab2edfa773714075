import ProfileModel
import Sampler
import Unwind

/// Turns samples into slices: unwinds their stacks and interns them. For each thread it keeps the
/// stack that "unchanged" refers to.
struct SliceBuilder: ~Copyable {
    private var interner: StackInterner
    private var interpreted: InterpretedStacks?
    private var scripts: NodeStacks?
    /// Where modules have the interpreter's loop.
    private var loop: Range<UInt64> = 0..<0
    private var threads: [ThreadState] = []

    private struct ThreadState {
        var stack: StackID?
        var truncation: Truncation?
        /// The slices of one stretch of being blocked. Stack memory alone could not finish their
        /// stack. The registers may still come.
        var held: [Slice] = []
        var heldBlocking: UInt32 = 0

        /// Slices in order, from the first one on that still waits for its stack.
        private var later: [Slice] = []
        /// The slices in ``later`` that have no stack yet.
        private var open: [Int] = []
        /// The most slices that wait for a thread's next stack. Only a thread that hardly ever
        /// computes has more.
        private static let mostLater = 4096

        /// Hands a slice out, or keeps it behind slices that wait.
        private mutating func put(_ slice: Slice, into slices: inout [Slice]) {
            guard !open.isEmpty else { return slices.append(slice) }
            later.append(slice)
            if later.count > Self.mostLater { settle(nil, .notSampled, into: &slices) }
        }

        /// Keeps a slice until its stack comes.
        mutating func await(_ slice: Slice, into slices: inout [Slice]) {
            open.append(later.count)
            later.append(slice)
            if later.count > Self.mostLater { settle(nil, .notSampled, into: &slices) }
        }

        /// Gives the waiting slices their stack; nil: it never comes.
        mutating func settle(
            _ stack: StackID?, _ truncation: Truncation?, into slices: inout [Slice]
        ) {
            guard !open.isEmpty else { return }
            for index in open {
                later[index].stack = stack
                later[index].truncation = truncation
            }
            slices += later
            later.removeAll(keepingCapacity: true)
            open.removeAll(keepingCapacity: true)
        }

        mutating func set(_ stack: StackID?, _ truncation: Truncation?) {
            self.stack = stack
            self.truncation = truncation
        }

        /// Makes a sample's slice, with the thread's current stack.
        ///
        /// - Parameter isNew: whether the sample brought that stack.
        mutating func take(
            _ sample: Sample, isNew: Bool, into slices: inout [Slice]
        ) -> StackRefinement? {
            let slice = Slice(
                thread: sample.thread, start: sample.start, times: sample.times,
                stack: stack, systemCall: sample.systemCall, truncation: truncation)
            let isSameStretch = sample.blocking != 0 && sample.blocking == heldBlocking
            if isSameStretch, isNew {
                // An event dropped on the way here says nothing about the stack.
                release(into: &slices, with: slice.stack == nil ? nil : slice)
                heldBlocking = sample.blocking
            } else if !isSameStretch {
                release(into: &slices)
            }
            guard sample.blocking != 0, slice.truncation == .unknownRegister else {
                put(slice, into: &slices)
                return nil
            }
            held.append(slice)
            if isSameStretch { return nil }
            heldBlocking = sample.blocking
            return StackRefinement(thread: sample.thread, blocking: sample.blocking)
        }

        /// Gives new ids to its stacks.
        mutating func replaceStacks(_ replacement: (StackID) -> StackID) {
            stack = stack.map(replacement)
            for index in held.indices { held[index].stack = held[index].stack.map(replacement) }
            for index in later.indices { later[index].stack = later[index].stack.map(replacement) }
        }

        mutating func renumber(_ thread: ThreadIndex) {
            for index in held.indices { held[index].thread = thread }
            for index in later.indices { later[index].thread = thread }
        }

        /// Hands out the slices that were kept back, with the stack of `final` if there is one.
        mutating func release(into slices: inout [Slice], with final: Slice? = nil) {
            heldBlocking = 0
            guard !held.isEmpty else { return }
            for var slice in held {
                if let final { (slice.stack, slice.truncation) = (final.stack, final.truncation) }
                put(slice, into: &slices)
            }
            held.removeAll(keepingCapacity: true)
        }
    }

    /// - Parameter stacks: the table shared by several processes, of which this is one.
    init(unwinder: Unwinder, stacks: SharedStacks = SharedStacks()) {
        interner = StackInterner(unwinder: unwinder, stacks: stacks)
    }

    /// From now on samples may have an interpreter's frames.
    mutating func add(_ found: FoundInterpreter, _ functions: RuntimeFunctions) {
        interpreted = InterpretedStacks(found, functions)
        loop = found.loop
    }

    /// Adds names that the frames of later samples refer to.
    mutating func add(_ names: InterpretedNames) { interpreted?.add(names) }

    /// From now on, code that lies in no file may be JavaScript's.
    mutating func add(_ scripts: consuming NodeStacks) { self.scripts = consume scripts }

    /// Call it before newer samples come.
    mutating func expectScripts() { scripts?.expectMore() }

    var unwinder: Unwinder { interner.unwinder }
    var stacks: StackTable { interner.stacks }

    /// Takes a sample.
    ///
    /// - Parameter slices: gets the complete ones.
    /// - Returns: the stack that must be refined by the thread's registers, if any.
    mutating func add(_ sample: Sample, into slices: inout [Slice]) -> StackRefinement? {
        let index = sample.thread.rawValue
        while threads.count <= index { threads.append(ThreadState()) }
        if case .following = sample.content {
            threads[index].release(into: &slices)
            threads[index].await(
                Slice(thread: sample.thread, start: sample.start, times: sample.times, stack: nil),
                into: &slices)
            return nil
        }
        let isNew = unwind(sample, at: index)
        if sample.systemCall == nil { settle(sample, at: index, into: &slices) }
        return threads[index].take(sample, isNew: isNew, into: &slices)
    }

    /// Gives a running thread's stack also to its slices since the stack before.
    private mutating func settle(_ sample: Sample, at index: Int, into slices: inout [Slice]) {
        switch sample.content {
        case .snapshot, .missing(.notSampled):
            threads[index].settle(threads[index].stack, threads[index].truncation, into: &slices)
        default: break
        }
    }

    /// The stack of a thread's last sample.
    func stack(of thread: ThreadIndex) -> StackID? {
        threads.indices.contains(thread.rawValue) ? threads[thread.rawValue].stack : nil
    }

    /// Interns a stack that belongs to no slice.
    mutating func intern(_ snapshot: Snapshot) -> StackID? { interner.intern(snapshot).stack }

    /// Interns a stack of one frame.
    mutating func intern(_ frame: FrameAddress) -> StackID { interner.intern(frame) }

    /// Another program has replaced the process's program: later samples have no stack from before.
    mutating func leaveImage(into slices: inout [Slice]) {
        for index in threads.indices { threads[index].settle(nil, .notSampled, into: &slices) }
    }

    /// Continues with another table, which gets the stacks that are still referred to.
    ///
    /// - Parameters:
    ///   - kept: the threads that go on, in the order of their new numbers. The slices of all
    ///     others must have been handed out: ``flush(_:into:)``.
    mutating func move(
        to stacks: SharedStacks, keeping kept: [ThreadIndex]
    ) {
        let former = interner.stacks
        var other = StackInterner(unwinder: unwinder, stacks: stacks)
        threads = kept.enumerated().map { number, thread in
            guard threads.indices.contains(thread.rawValue) else { return ThreadState() }
            var state = threads[thread.rawValue]
            state.renumber(ThreadIndex(number))
            state.replaceStacks { stack in
                var result: StackID?
                for frame in former.frames(of: stack) {
                    result = other.intern(frame, calledFrom: result)
                }
                return result ?? stack
            }
            return state
        }
        interner = other
    }

    /// Hands out the slices of a thread that gets no more samples.
    mutating func flush(_ thread: ThreadIndex, into slices: inout [Slice]) {
        guard threads.indices.contains(thread.rawValue) else { return }
        threads[thread.rawValue].release(into: &slices)
        threads[thread.rawValue].settle(nil, .notSampled, into: &slices)
    }

    /// Hands out, at the recording's end, the slices that were still kept back.
    mutating func flush() -> [Slice] {
        var slices: [Slice] = []
        for index in threads.indices { flush(ThreadIndex(index), into: &slices) }
        return slices
    }

    /// Whether the sample brought a stack of its own.
    private mutating func unwind(_ sample: Sample, at index: Int) -> Bool {
        switch sample.content {
        case .unchanged, .following: return false
        case .none: threads[index].set(nil, nil)
        case .missing(let reason): threads[index].set(nil, reason)
        case .snapshot(let snapshot):
            let (stack, truncation) = intern(sample: snapshot)
            threads[index].set(stack, truncation)
        }
        return true
    }

    private mutating func intern(
        sample snapshot: Snapshot
    ) -> (stack: StackID?, truncation: Truncation?) {
        if interpreted != nil { return internInterpreted(snapshot) }
        return scripts == nil ? interner.intern(snapshot) : internScripts(snapshot)
    }

    /// The stack with JavaScript functions in place of their code.
    private mutating func internScripts(
        _ snapshot: Snapshot
    ) -> (stack: StackID?, truncation: Truncation?) {
        let truncation = interner.unwind(snapshot)
        let modules = unwinder.modules
        var stack: StackID?
        for index in (0..<interner.frameCount).reversed() {
            var frame = interner.frames[index]
            if frame.module.map({ modules[$0.rawValue].isGenerated }) ?? true {
                frame = scripts?.function(at: frame) ?? frame
            }
            stack = interner.intern(frame, calledFrom: stack)
        }
        return (
            interner.intern(kernelChain: snapshot.kernelChain, calledFrom: stack), truncation
        )
    }

    /// The stack. The functions that the interpreter ran replace the interpreter's own function.
    private mutating func internInterpreted(
        _ snapshot: Snapshot
    ) -> (stack: StackID?, truncation: Truncation?) {
        let truncation = interner.unwind(snapshot)
        let loop = loopInModule
        let frames = interpreted?.frames(
            of: snapshot, interner.frames, isComplete: truncation == nil
        ) { frame in
            frame.module == loop?.module && loop?.range.contains(frame.address.lookup) == true
        }
        guard let frames else { return interner.internUnwound(snapshot, truncation) }
        var stack: StackID?
        for frame in frames.reversed() { stack = interner.intern(frame, calledFrom: stack) }
        return (
            interner.intern(kernelChain: snapshot.kernelChain, calledFrom: stack), truncation
        )
    }

    /// The interpreter's loop as frames name it; nil: as far as is known, it is not mapped.
    private var loopInModule: (module: ModuleIndex, range: Range<UInt64>)? {
        guard let start = unwinder.frame(ofInstruction: loop.lowerBound), let module = start.module
        else { return nil }
        let first = start.address.value
        return (module, first..<max(first, first &+ UInt64(loop.count)))
    }
}
