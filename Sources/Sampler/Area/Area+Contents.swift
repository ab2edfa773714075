import Architecture
import CAgent
import Glibc

extension Area {
    /// The content to fill in before a program uses the area.
    struct Contents {
        /// The address that the area should get.
        var place: UInt64
        var recorder: Int32
        var cookie: UInt64
        /// The sampling signal, and the action that the program is to see for it; nil: no stacks by
        /// signal.
        var signal: (number: Int32, original: UInt64)?
        /// The signal that replaces it if the program uses it itself; 0: none.
        var spare: Int32 = 0
        /// True if threads get alternate stacks for the signal's frames. Those that the program has
        /// already would not be known.
        var makesAlternates = false
        var patches: [Patch] = []
        /// The linker's `r_debug`; 0: the linker reports nothing.
        var debug: UInt64 = 0
        /// The word that tells the linker where the program's first instruction is, and that
        /// address; nil: the word does not lead to our code.
        var entry: (pointer: UInt64, address: UInt64)?
        /// The linker is musl's.
        var isMusl = false
        /// How many libraries the linker lists already; nil: the program has not begun.
        var known: Int?
        var startPointer: UInt64 = 0
        var startIsProtected = false
        var main: UInt64 = 0
        /// Relative to the C library's load address; nil: its calls will not be hooked.
        var sites: CallSites?
        /// The calls that will be hooked.
        var calls = CallSites.Call.allCases
        /// True if a launch is measured, not recorded: our code notes only the launch's borders and
        /// its own cost.
        var isMeasured = false
        var isGated = false
        /// The gate is where the area settles.
        var gatesEntry = false
        /// The initialisers of a static program; nil: not timed.
        var initializers: StaticInitializers?
        var island: UInt64 = 0
    }

    static let mostPatches = Int(FL_MOST_PATCHES)

    /// Eight bytes of code.
    struct Patch {
        var address: UInt64
        var word: UInt64
        /// The place in the area that the first five bytes jump to; 0: they are no jump.
        var target: UInt64 = 0
        /// The call of the C library that this jump hooks.
        var call: CallSites.Call?

        /// Restores code that our bootstrap has replaced.
        static func restoring(_ word: UInt64, at address: UInt64) -> Patch {
            Patch(address: address, word: word, target: UInt64(FL_RESTORES))
        }
        var isRestoring: Bool { target == UInt64(FL_RESTORES) }
    }
}

extension Area.Contents {
    /// As many patches as the state has room for.
    var patchesThatFit: ArraySlice<Area.Patch> { patches.prefix(Area.mostPatches) }

    /// The words that the program's side of the area begins with.
    ///
    /// - Parameter size: the area's, in bytes.
    func state(size: Int) -> fl_state {
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
            // SA_ONSTACK comes with the alternate stacks: of others nobody knows whether a frame fits.
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

extension Area {
    /// Lists a static program's initialisers as if the linker had reported a library for each.
    func fill(_ initializers: StaticInitializers) {
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
