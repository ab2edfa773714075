import Architecture
package import CAgent
package import ProcessIO
package import ProfileModel
import Synchronization

/// The messages between our code and the recorder about the whole process.
extension AgentMemory {
    /// True if the program's calls that set a signal's action are hooked, or will be before
    /// anything but the linker runs.
    package var seesActions: Bool {
        self[\.hooked] & 1 << UInt64(CallSites.Call.sigaction.index) != 0
            || (self[\.wants_sites] != 0 && self[\.is_started] == 0)
    }
    /// True if the program may have a handler that blocks one of our signals while it runs.
    package var handlersBlock: Bool { value(\.handlers_block) != 0 }
    /// True if the program has set another action for the sampling signal.
    package var isDisplaced: Bool { value(\.displaced) != 0 }
    /// True if another signal has replaced it, or is ready to.
    package var hasSpare: Bool { value(\.spare) == UInt32(FL_SPARE_IN_PLACE) }

    /// From now on no signal replaces another one, unless one has done so already.
    ///
    /// - Returns: false if a replacement is under way.
    package func refuseSpare() -> Bool {
        let (before, desired) = (UInt32(FL_SPARE_NOT_NEEDED), UInt32(FL_SPARE_REFUSED))
        _ = word(\.spare).pointee.compareExchange(
            expected: before, desired: desired, ordering: .sequentiallyConsistent)
        return value(\.spare) != UInt32(FL_SPARE_BEGUN)
    }

    /// The signals that may lead to our handler, each with its earlier action, as the program left
    /// it. The program may have changed their actions without our notice; then they lead elsewhere.
    package var signals: [Signal] { Self.signals(of: read(fl_state.self, at: Int(FL_STATE))) }

    package struct Signal: Hashable {
        package var number: Int32
        /// The signal's earlier action: 0 the default, 1 ignored.
        package var original: UInt64
    }

    package static func signals(of state: fl_state) -> [Signal] {
        var signals: [Signal] = []
        if state.sample_signal != 0 {
            signals.append(
                Signal(
                    number: Int32(clamping: state.sample_signal),
                    original: state.original_handler))
        }
        if state.spare != UInt32(FL_SPARE_NOT_NEEDED), state.spare != UInt32(FL_SPARE_REFUSED) {
            signals.append(
                Signal(
                    number: Int32(clamping: state.spare_signal), original: state.spare_original))
        }
        // We never replace a handler, whatever a child of the program may have written here.
        return signals.map { Signal(number: $0.number, original: $0.original == 1 ? 1 : 0) }
    }

    /// True if the program prepares a filter for its system calls.
    package var isFiltered: Bool { value(\.filtered) != 0 }
    /// From now on our code makes no system calls, no matter which thread runs it.
    package func silence() { if !isFiltered { set(\.filtered, 1) } }

    /// True if one of its threads, about to execute a program, waits for us to trace it.
    package var isAboutToExecute: Bool { value(\.execution) == UInt32(FL_EXECUTION_AHEAD) }
    /// False as soon as its execve has failed: then the thread runs on, and may be about to try
    /// another.
    package var isExecuting: Bool { value(\.execution) == UInt32(FL_EXECUTION_FOLLOWED) }

    /// When a thread left our code for its `execve`, if no thread has returned from there.
    package var executed: MonotonicTime? { value(\.executor) == 0 ? nil : time(\.followed_ns) }

    /// - Returns: false if the thread has stopped waiting, and continues without us.
    package func followExecution() -> Bool {
        changeExecution(FL_EXECUTION_AHEAD, FL_EXECUTION_FOLLOWED)
    }

    /// Ends the following of an execve that took too long.
    package func forgetExecution() { changeExecution(FL_EXECUTION_FOLLOWED, FL_EXECUTION_NONE) }

    /// Both sides change this word, but only from the value that they have read.
    @discardableResult
    private func changeExecution(_ expected: Int, _ desired: Int) -> Bool {
        word(\.execution).pointee.compareExchange(
            expected: UInt32(expected), desired: UInt32(desired), ordering: .sequentiallyConsistent
        ).exchanged
    }

    /// True if a thread waits until we are ready for the code that runs next.
    package var isGateWaiting: Bool { value(\.gate) == UInt32(FL_GATE_WAITING) }
    /// Makes the thread wait on while code is changed. false: it has continued already.
    package func holdGate() -> Bool {
        word(\.gate).pointee.compareExchange(
            expected: UInt32(FL_GATE_WAITING), desired: UInt32(FL_GATE_SERVING),
            ordering: .sequentiallyConsistent
        ).exchanged
    }
    package func openGate() { set(\.gate, UInt32(FL_GATE_PASSED)) }

    /// True if our code could not write the patches of the program's code.
    package var lacksPatches: Bool { value(\.unwritten) != UInt32(FL_PATCHES_WRITTEN) }

    /// Writes the patches from outside, while the thread that has brought our code in waits for
    /// that.
    ///
    /// - Returns: false if it does not wait.
    package func write(_ patches: some Sequence<Patch>, _ memory: TargetMemory) -> Bool {
        guard value(\.unwritten) == UInt32(FL_PATCHES_WAIT), holdGate() else { return false }
        let failed = patches.filter { !$0.isRestoring && !write($0, memory) }
        set(\.unwritten, UInt32(failed.isEmpty ? FL_PATCHES_WRITTEN : FL_PATCHES_REFUSED))
        openGate()
        return true
    }

    private func write(_ patch: Patch, _ memory: TargetMemory) -> Bool {
        guard patch.target != 0 else { return memory.write([patch.word], at: patch.address) }
        guard
            let jump = JumpPatch.word(
                from: patch.address, to: position(Int(clamping: patch.target))),
            memory.write([JumpPatch.word(patch.word, beginning: jump)], at: patch.address)
        else { return false }
        if let call = patch.call {
            let behind = patch.address &+ UInt64(SystemCallInstruction.length)
            setReturn(of: call, to: behind, word: patch.word)
        }
        return true
    }

    package func time(_ field: KeyPath<fl_state, Int64>) -> MonotonicTime? {
        let time = self[field]
        return time > 0 ? MonotonicTime(nanoseconds: time) : nil
    }

    /// The original words at the C library's calls that we have hooked.
    package var hookedWords: [UInt64: UInt64] {
        Self.hookedWords(of: read(fl_state.self, at: Int(FL_STATE)))
    }

    package static func hookedWords(of state: fl_state) -> [UInt64: UInt64] {
        let (words, after, hooked) = (state.hooked_words, state.after, state.hooked)
        let all = [
            (words.0, after.0), (words.1, after.1), (words.2, after.2), (words.3, after.3),
            (words.4, after.4), (words.5, after.5), (words.6, after.6), (words.7, after.7),
        ]
        var result: [UInt64: UInt64] = [:]
        for (index, (word, after)) in all.enumerated() where hooked & (1 << UInt64(index)) != 0 {
            result[after &- 7] = word
        }
        return result
    }

    /// Notes where a hooked call continues, and its original word.
    package func setReturn(of call: CallSites.Call, to address: UInt64, word: UInt64) {
        prepareReturn(of: call, to: address, word: word)
        set(\.hooked, self[\.hooked] | 1 << UInt64(call.index))
    }

    /// The same for a call that will be hooked.
    package func prepareReturn(of call: CallSites.Call, to address: UInt64, word: UInt64) {
        var (afters, words) = (self[\.after], self[\.hooked_words])
        withUnsafeMutableBytes(of: &afters) {
            $0.storeBytes(of: address, toByteOffset: 8 * call.index, as: UInt64.self)
        }
        withUnsafeMutableBytes(of: &words) {
            $0.storeBytes(of: word, toByteOffset: 8 * call.index, as: UInt64.self)
        }
        withUnsafeBytes(of: afters) { write(Array($0), at: Self.offset(\.after)) }
        withUnsafeBytes(of: words) { write(Array($0), at: Self.offset(\.hooked_words)) }
    }

    /// Notes the linker's hook that leads to our code.
    package func setHook(at address: UInt64, word: UInt64) {
        let hook = fl_patch(address: address, word: word, target: AgentCode.debugState)
        withUnsafeBytes(of: hook) { write(Array($0), at: Self.offset(\.hook)) }
    }

    /// Keeps the area mapped at the end: a thread may be in a signpost or a mark at any time, even
    /// if nothing else shows it.
    package func keep() { set(\.stays, 1) }

    /// Forgets a call that was not hooked after all.
    package func forgetReturn(of call: CallSites.Call) {
        set(\.hooked, self[\.hooked] & ~(1 << UInt64(call.index)))
    }
}
