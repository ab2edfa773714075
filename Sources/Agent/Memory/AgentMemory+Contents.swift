import Architecture
package import CAgent
import Glibc
package import Images
import Synchronization

extension AgentMemory {
    /// The content to fill in before a program uses the area.
    package struct Contents {
        /// The address that the area should get.
        package var place: UInt64
        package var recorder: Int32
        package var cookie: UInt64
        /// The sampling signal, and the action that the program is to see for it; nil: no stacks by
        /// signal.
        package var signal: (number: Int32, original: UInt64)?
        /// The signal that replaces it if the program uses it itself; 0: none.
        package var spare: Int32 = 0
        /// True if threads get alternate stacks for the signal's frames. We would not know the
        /// alternate stacks that the program already has.
        package var makesAlternates = false
        package var patches: [Patch] = []
        /// The linker's `r_debug`; 0: the linker reports nothing.
        package var debug: UInt64 = 0
        /// The word from which the linker reads the address of the program's first instruction, and
        /// that address; nil: the word does not lead to our code.
        package var entry: (pointer: UInt64, address: UInt64)?
        /// The linker is musl's.
        package var isMusl = false
        /// How many libraries the linker lists already; nil: the program has not begun.
        package var known: Int?
        package var startPointer: UInt64 = 0
        package var startIsProtected = false
        package var main: UInt64 = 0
        /// Relative to the C library's load address; nil: its calls will not be hooked.
        package var sites: CallSites?
        /// The calls that will be hooked.
        package var calls = CallSites.Call.allCases
        /// True if a launch is measured, not recorded: our code notes only the launch's borders and
        /// its own cost.
        package var isMeasured = false
        package var isGated = false
        /// The gate is where the area settles.
        package var gatesEntry = false
        /// The initialisers of a static program; nil: not timed.
        package var initializers: StaticInitializers?
        package var island: UInt64 = 0

        package init(place: UInt64, recorder: Int32, cookie: UInt64) {
            (self.place, self.recorder, self.cookie) = (place, recorder, cookie)
        }
    }

    package static let mostPatches = Int(FL_MOST_PATCHES)

    /// Eight bytes of code.
    package struct Patch {
        package var address: UInt64
        package var word: UInt64
        /// The place in the area that the first five bytes jump to; 0: they are not a jump.
        package var target: UInt64 = 0
        /// The call of the C library that this jump hooks.
        package var call: CallSites.Call?

        /// Restores code that our bootstrap has replaced.
        package static func restoring(_ word: UInt64, at address: UInt64) -> Patch {
            Patch(address: address, word: word, target: UInt64(FL_RESTORES))
        }
        package var isRestoring: Bool { target == UInt64(FL_RESTORES) }
    }
}

extension AgentMemory.Contents {
    /// As many patches as the state has room for.
    package var patchesThatFit: ArraySlice<AgentMemory.Patch> {
        patches.prefix(AgentMemory.mostPatches)
    }

    /// The words at the beginning of the program's side of the area.
    ///
    /// - Parameter size: the area's, in bytes.
    package func state(size: Int) -> fl_state {
        var state = fl_state()
        state.next_area = -1
        state.gate = UInt32(isGated ? FL_GATE_CLOSED : FL_GATE_OPEN)
        state.recorder = UInt32(bitPattern: recorder)
        state.size = UInt64(size)
        state.may_gain_privileges = geteuid() == 0 ? 1 : 0
        state.cookie = cookie
        if let signal {
            state.sample_signal = UInt64(signal.number)
            state.original_handler = signal.original
            state.spare_signal = UInt32(spare)
            // Only alternate stacks of ours allow SA_ONSTACK: a frame might not fit on other ones.
            if makesAlternates { state.alternate_size = AlternateStacks.size }
            state.settled_flags =
                SignalFrameLayout.restorerFlag | UInt64(SA_RESTART | SA_SIGINFO)
        }
        state.debug = debug
        state.gates_entry = gatesEntry ? 1 : 0
        let words = initializers?.words ?? []
        state.words = UInt32(words.count)
        state.libraries = state.words
        state.words_are_protected = initializers?.isProtected == true ? 1 : 0
        state.entry_pointer = entry?.pointer ?? 0
        state.real_entry = entry?.address ?? 0
        state.is_musl = isMusl ? 1 : 0
        state.is_started = known == nil ? 0 : 1
        state.known = UInt32(clamping: known ?? 0)
        state.opens = UInt32(FL_FIRST_OPEN)
        state.start_pointer = startPointer
        state.start_is_protected = startIsProtected ? 1 : 0
        state.real_main = main
        state.island = island
        state.is_measured = isMeasured ? 1 : 0
        if let sites {
            state.wants_sites = calls.filter { $0.isNeeded || sites[$0] != nil }
                .reduce(0) { $0 | 1 << UInt64($1.index) }
            state.sites = sites.offsets
        }
        let patches = patchesThatFit
        state.patch_count = UInt64(patches.count)
        withUnsafeMutableBytes(of: &state.patches) { bytes in
            for (index, patch) in patches.enumerated() {
                bytes.storeBytes(
                    of: fl_patch(address: patch.address, word: patch.word, target: patch.target),
                    toByteOffset: index * MemoryLayout<fl_patch>.stride, as: fl_patch.self)
            }
        }
        return state
    }
}

extension AgentMemory {
    /// Lists a static program's initialisers as if the linker had reported a library for each.
    package func fill(_ initializers: StaticInitializers) {
        let running = MemoryLayout<fl_library>.offset(of: \.running) ?? 0
        for (number, word) in initializers.words.prefix(Int(FL_MOST_LIBRARIES)).enumerated() {
            var library = fl_library()
            library.initializer = word.function
            library.runs = position(Int(FL_LIBRARIES) + running)
            library.bias = initializers.bias
            library.entries.0 = word.source
            library.own.0 = word.address
            let place = Int(FL_LIBRARIES) + number * MemoryLayout<fl_library>.stride
            withUnsafeBytes(of: library) { write(Array($0), at: place) }
        }
    }
}

/// The alternate signal stacks on which our handler runs where signals are the only way to request
/// stacks. The recorder cannot know where a thread's stack pointer is when a signal comes: it may
/// be on a coroutine's small stack, or in a block of the heap. With an alternate stack, the kernel
/// writes nothing there.
package enum AlternateStacks {
    /// The size of each, in bytes. Handlers of the program's that ask for alternate stacks run
    /// there, too, as long as the program has made none. Without us they would run on a thread's
    /// own stack.
    package static let size: UInt64 = 1 << 20
    /// The size of all stacks, each above a guard page. Only pages in use take memory.
    package static let roomForAll = Int(FL_MOST_ALTERNATES) * Int(size + VirtualMemory.pageSize)
}

/// Unsafe code: entries lie within the state.
extension AgentMemory {
    /// Whether a thread has an alternate stack of ours, and so there is room for a signal's frame.
    ///
    /// - Parameter tid: the thread's id, as the process knows it.
    package func hasAlternateStack(_ tid: Int32) -> Bool {
        guard value(\.uses_alternates) == 1 else { return false }
        let wanted = UInt64(FL_ALTERNATE_OURS) << 32 | UInt64(UInt32(bitPattern: tid))
        return (0..<Int(FL_MOST_ALTERNATES)).contains { index in
            let place = Self.offset(\.alternates) + index * MemoryLayout<fl_alternate>.stride
            return (base + place).assumingMemoryBound(to: Atomic<UInt64>.self).pointee
                .load(ordering: .sequentiallyConsistent) == wanted
        }
    }

    /// The stacks that no thread ever had. A stack that a thread had stays the thread's for good: a
    /// handler of the program's that returns restores the stack that it began with.
    package var unusedAlternates: Range<UInt64>? {
        let start = self[\.alternates_at]
        guard Self.isPlace(start, size: AlternateStacks.roomForAll) else { return nil }
        let used = UInt64(UInt64.bitWidth - self[\.alternates_made].leadingZeroBitCount)
        let first = start + used * (AlternateStacks.size + VirtualMemory.pageSize)
        let end = start + UInt64(AlternateStacks.roomForAll)
        return first < end ? first..<end : nil
    }
}
