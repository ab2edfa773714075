import Architecture
import CAgent
import CSystem
import Glibc
import ProfileModel
import Synchronization

/// The memory that the recorder shares with one program image: our code, and the data that both
/// sides write (`CAgent.h` tells the layout).
///
/// Unsafe code: every access lies within the mapped size. Whoever reads what the program may have
/// written checks it.
final class Area {
    /// Size of the mapping, in bytes; only pages in use take memory.
    let size: Int
    /// Where stacks are copied to, relative to the area's beginning; each buffer serves one request
    /// at a time.
    let buffers: Buffers
    /// The area's address in the program; until ``isSettled``, the address that it should get.
    private(set) var address: UInt64 = 0
    /// Where the island is in the program, if it has one; known once the area has settled.
    private(set) var islandRange: Range<UInt64>?
    /// The memory's descriptor, while a process is still to inherit it.
    private var descriptor: Int32
    let base: UnsafeMutableRawPointer
    private var isPrepared = false
    private var hasSettled = false

    /// The size of an area, in bytes.
    ///
    /// - Parameter stackBytes: how many bytes of a stack are copied at most.
    static func size(stackBytes: Int) -> Int {
        Buffers(stackBytes: stackBytes).end
    }

    /// True if the process's limits allow an area. Beyond them the process would be killed, or its
    /// own allocations would fail.
    static func fits(process pid: Int32, stackBytes: Int) -> Bool {
        fl_file_size_limit(pid) >= UInt64(size(stackBytes: stackBytes))
            && fl_address_space_limit(pid) == .max
    }

    /// Most stacks are shallow, and few threads have a core at once. So there are many small
    /// buffers, and some with room for the largest copy.
    struct Buffers {
        static let start = Int(FL_RING) + SignpostRing.size()
        static let mostSmall = 64
        static let smallSize = 32 << 10
        private static let mostLarge = max(8, min(64, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        private static let allLarge = 16 << 20

        let small: [Range<Int>]
        let large: [Range<Int>]
        let end: Int

        fileprivate init(stackBytes: Int) {
            let size = VirtualMemory.wholePages(max(1, stackBytes))
            var end = Self.start
            func make(_ count: Int, _ size: Int) -> [Range<Int>] {
                defer { end += count * size }
                return (0..<count).map { (end + $0 * size)..<(end + ($0 + 1) * size) }
            }
            small = make(Self.mostSmall, min(Self.smallSize, size))
            large =
                size <= Self.smallSize
                ? [] : make(max(8, min(Self.mostLarge, Self.allLarge / size)), size)
            self.end = end
        }

        var count: Int { small.count + large.count }
    }

    private init?(descriptor: Int32, stackBytes: Int) {
        buffers = Buffers(stackBytes: stackBytes)
        size = buffers.end
        guard descriptor >= 0 else { return nil }
        guard let base = fl_map_memory(descriptor, size) else {
            close(descriptor)
            return nil
        }
        self.base = base
        self.descriptor = descriptor
    }

    /// Makes the memory for a process that will inherit it. nil: not available.
    convenience init?(stackBytes: Int) {
        self.init(
            descriptor: fl_make_memory("firstlight", Self.size(stackBytes: stackBytes)),
            stackBytes: stackBytes)
    }

    /// Takes the memory that a thread of process `pid` has made. nil: there is none, or not yet.
    convenience init?(pid: Int32, descriptor: Int32, stackBytes: Int) {
        let opened = FirstThread.orAnother(of: pid) { tid in
            let opened = fl_open_memory(
                "/proc/\(tid)/fd/\(descriptor)", Self.size(stackBytes: stackBytes))
            return opened >= 0 ? opened : nil
        }
        self.init(descriptor: opened ?? -1, stackBytes: stackBytes)
    }

    deinit {
        fl_unmap(base, size)
        if descriptor >= 0 { close(descriptor) }
    }

    /// True if the process has this memory under the given number; only valid until
    /// ``wasInherited()``. Any of its threads may put another file there, so the answer is certain
    /// only while none of them runs.
    func isOpen(in pid: Int32, as number: Int32) -> Bool {
        var (own, theirs) = (fl_file(), fl_file())
        return descriptor >= 0
            && fl_known_file(AT_FDCWD, "/proc/self/fd/\(descriptor)", &own) == 0
            && fl_known_file(AT_FDCWD, "/proc/\(pid)/fd/\(number)", &theirs) == 0
            && own.holder == theirs.holder && own.inode == theirs.inode
    }

    /// The memory for a child to inherit, until ``wasInherited()``.
    var inheritable: Int32 { descriptor }

    func wasInherited() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// The area's addresses in the program.
    var range: Range<UInt64> { address..<(address &+ UInt64(size)) }
    /// The part that holds our code.
    var code: Range<UInt64> { address..<(address &+ UInt64(FL_STATE)) }

    func position(_ offset: Int) -> UInt64 { address &+ UInt64(offset) }

    // MARK: Filling in

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

    static let mostPatches = Int(FL_MOST_PATCHES)

    /// Writes what does not depend on the program, so that the program need not be stopped for it.
    func prepare() {
        guard !isPrepared else { return }
        isPrepared = true
        write(AreaCode.bytes, at: 0)
        // Touch these pages now: otherwise they would have to be made while the program is stopped,
        // or runs. The first word of the state may be the program's already.
        for offset in [
            FL_STATE, FL_SLOTS, FL_RECORDS, FL_LIBRARIES, FL_OPENS, FL_STACKS, FL_ENTRIES,
        ] {
            write([0], at: Int(offset) + 64)
        }
    }

    /// Writes all content. A thread that waits for it continues.
    func fill(_ contents: Contents) {
        address = contents.place
        islandRange = nil
        hasSettled = false
        prepare()
        var state = fl_state()
        state.next_area = -1
        state.gate = UInt32(contents.isGated ? FL_GATE_CLOSED : FL_GATE_OPEN)
        state.recorder = UInt32(bitPattern: contents.recorder)
        state.size = UInt64(size)
        state.may_gain_privileges = geteuid() == 0 ? 1 : 0
        state.cookie = contents.cookie
        if let signal = contents.signal {
            state.sample_signal = UInt64(signal.number)
            state.original_handler = signal.original
            state.spare_signal = UInt32(contents.spare)
            // Not SA_ONSTACK: we know whether a frame fits
            // on the thread's own stack, but not whether it fits on an alternate one.
            state.settled_flags =
                SignalFrameLayout.restorerFlag | UInt64(SA_RESTART | SA_SIGINFO)
        }
        state.debug = contents.debug
        state.gates_entry = contents.gatesEntry ? 1 : 0
        let words = contents.initializers?.words ?? []
        state.words = UInt32(words.count)
        state.libraries = state.words
        state.words_are_protected = contents.initializers?.isProtected == true ? 1 : 0
        state.entry_pointer = contents.entry?.pointer ?? 0
        state.real_entry = contents.entry?.address ?? 0
        state.is_musl = contents.isMusl ? 1 : 0
        state.is_started = contents.known == nil ? 0 : 1
        state.known = UInt32(clamping: contents.known ?? 0)
        state.opens = UInt32(FL_FIRST_OPEN)
        state.start_pointer = contents.startPointer
        state.start_is_protected = contents.startIsProtected ? 1 : 0
        state.real_main = contents.main
        state.island = contents.island
        state.is_measured = contents.isMeasured ? 1 : 0
        if let sites = contents.sites {
            state.wants_sites = contents.calls.reduce(0) { $0 | 1 << UInt64($1.index) }
            state.sites = sites.offsets
        }
        let patches = contents.patches.prefix(Self.mostPatches)
        state.patch_count = UInt64(patches.count)
        withUnsafeMutableBytes(of: &state.patches) { bytes in
            for (index, patch) in patches.enumerated() {
                bytes.storeBytes(
                    of: fl_patch(address: patch.address, word: patch.word, target: patch.target),
                    toByteOffset: index * MemoryLayout<fl_patch>.stride, as: fl_patch.self)
            }
        }
        // The program may have given up already; the first word tells.
        let first = MemoryLayout.size(ofValue: state.phase)
        withUnsafeBytes(of: state) { write(Array($0.dropFirst(first)), at: Int(FL_STATE) + first) }
        if let initializers = contents.initializers { fill(initializers) }
        for patch in patches {
            guard let call = patch.call else { continue }
            prepareReturn(of: call, to: patch.address &+ 7, word: patch.word)
        }
    }

    private func fill(_ initializers: StaticInitializers) {
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

    /// True if a program can have a mapping there: the program may claim anything.
    static func isPlace(_ address: UInt64, size: Int) -> Bool {
        address != 0 && address % VirtualMemory.pageSize == 0
            && address < VirtualMemory.programsEnd - UInt64(size)
    }

    /// Lets the thread continue that waits for the content. false: it has stopped waiting.
    func open() -> Bool {
        word(\.phase).pointee.compareExchange(
            expected: UInt32(FL_PHASE_EMPTY), desired: UInt32(FL_PHASE_FILLED),
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// True if the program uses the area.
    var isSettled: Bool {
        guard value(\.phase) == UInt32(FL_PHASE_SETTLED) else { return false }
        // Keep the addresses now: later a child may overwrite them.
        if !hasSettled { keepPlaces() }
        hasSettled = true
        return true
    }

    private func keepPlaces() {
        if Self.isPlace(self[\.address], size: size) { address = self[\.address] }
        let (island, islandSize) = (self[\.island], TrampolineSpace.size)
        if Self.isPlace(island, size: islandSize) {
            islandRange = island..<(island &+ UInt64(islandSize))
        }
    }

    /// True if the program runs without the area: it could not be mapped, or was not filled in.
    var isAbandoned: Bool { value(\.phase) == UInt32(FL_PHASE_ABANDONED) }

    func write(_ bytes: [UInt8], at offset: Int) {
        precondition(offset >= 0 && offset + bytes.count <= size)
        UnsafeMutableRawBufferPointer(start: base + offset, count: bytes.count)
            .copyBytes(from: bytes)
    }

    // MARK: Reading

    func read<Value>(_ type: Value.Type, at offset: Int) -> Value {
        precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= size)
        return (base + offset).loadUnaligned(as: type)
    }

    func copy(at offset: Int, count: Int) -> [UInt8] {
        precondition(offset >= 0 && count >= 0 && offset + count <= size)
        return [UInt8](UnsafeRawBufferPointer(start: base + offset, count: count))
    }

    // MARK: The state's words

    private static func offset<Value>(_ field: KeyPath<fl_state, Value>) -> Int {
        Int(FL_STATE) + (MemoryLayout<fl_state>.offset(of: field) ?? 0)
    }

    /// A field that only one side writes, or that nobody writes any more.
    subscript<Value>(field: KeyPath<fl_state, Value>) -> Value {
        (base + Self.offset(field)).loadUnaligned(as: Value.self)
    }

    func set(_ field: KeyPath<fl_state, UInt64>, _ value: UInt64) {
        (base + Self.offset(field)).assumingMemoryBound(to: Atomic<UInt64>.self).pointee
            .store(value, ordering: .sequentiallyConsistent)
    }

    /// Tells our code where an interpreter keeps its frames.
    func setFrames(_ list: fl_frame_list) {
        withUnsafeBytes(of: list) { write(Array($0), at: Self.offset(\.frames)) }
    }

    func word(_ field: KeyPath<fl_state, UInt32>) -> UnsafeMutablePointer<Atomic<UInt32>> {
        (base + Self.offset(field)).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    var outstanding: UnsafeMutablePointer<Atomic<Int32>> {
        (base + Self.offset(\.outstanding)).assumingMemoryBound(to: Atomic<Int32>.self)
    }

    func value(_ field: KeyPath<fl_state, UInt32>) -> UInt32 {
        word(field).pointee.load(ordering: .sequentiallyConsistent)
    }

    func set(_ field: KeyPath<fl_state, UInt32>, _ value: UInt32) {
        word(field).pointee.store(value, ordering: .sequentiallyConsistent)
    }

    // MARK: What concerns the process

    /// True if the program's calls that set a signal's action are hooked, or will be before
    /// anything but the linker runs.
    var seesActions: Bool {
        self[\.hooked] & 1 << UInt64(CallSites.Call.sigaction.index) != 0
            || (self[\.wants_sites] != 0 && self[\.is_started] == 0)
    }
    /// True if the program may have a handler that blocks one of our signals while it runs.
    var handlersBlock: Bool { value(\.handlers_block) != 0 }
    /// True if the program has set another action for the sampling signal.
    var isDisplaced: Bool { value(\.displaced) != 0 }
    /// True if another signal has replaced it, or is ready to.
    var hasSpare: Bool { value(\.spare) == UInt32(FL_SPARE_IN_PLACE) }

    /// From now on no signal replaces another one, unless it has done so already.
    ///
    /// - Returns: false: a replacement is just under way.
    func refuseSpare() -> Bool {
        let (before, desired) = (UInt32(FL_SPARE_NOT_NEEDED), UInt32(FL_SPARE_REFUSED))
        _ = word(\.spare).pointee.compareExchange(
            expected: before, desired: desired, ordering: .sequentiallyConsistent)
        return value(\.spare) != UInt32(FL_SPARE_BEGUN)
    }

    /// The signals that may lead to our handler, each with its earlier action, as the program left
    /// it. The program may have changed their actions where we do not see it; then they lead
    /// elsewhere.
    var signals: [Signal] { Self.signals(of: read(fl_state.self, at: Int(FL_STATE))) }

    struct Signal: Hashable {
        var number: Int32
        /// The signal's earlier action: 0 the default, 1 ignored.
        var original: UInt64
    }

    static func signals(of state: fl_state) -> [Signal] {
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
    var isFiltered: Bool { value(\.filtered) != 0 }
    /// From now on our code makes no system calls, whichever thread passes it.
    func silence() { set(\.filtered, 1) }

    /// True if one of its threads, about to execute a program, waits for us to trace it.
    var isAboutToExecute: Bool { value(\.execution) == UInt32(FL_EXECUTION_AHEAD) }
    /// False as soon as its execve has failed: then it runs on, and may be about to try another.
    var isExecuting: Bool { value(\.execution) == UInt32(FL_EXECUTION_FOLLOWED) }

    /// - Returns: false: the thread has stopped waiting, and continues without us.
    func followExecution() -> Bool { changeExecution(FL_EXECUTION_AHEAD, FL_EXECUTION_FOLLOWED) }

    /// Ends the following of an execve that took too long.
    func forgetExecution() { changeExecution(FL_EXECUTION_FOLLOWED, FL_EXECUTION_NONE) }

    /// Both sides change this word, but only from the value that they have seen.
    @discardableResult
    private func changeExecution(_ expected: Int, _ desired: Int) -> Bool {
        word(\.execution).pointee.compareExchange(
            expected: UInt32(expected), desired: UInt32(desired), ordering: .sequentiallyConsistent
        ).exchanged
    }

    /// True if a thread waits until we are ready for what runs next.
    var isGateWaiting: Bool { value(\.gate) == UInt32(FL_GATE_WAITING) }
    /// Makes the thread wait on while code is changed. false: it has continued already.
    func holdGate() -> Bool {
        word(\.gate).pointee.compareExchange(
            expected: UInt32(FL_GATE_WAITING), desired: UInt32(FL_GATE_SERVING),
            ordering: .sequentiallyConsistent
        ).exchanged
    }
    func openGate() { set(\.gate, UInt32(FL_GATE_PASSED)) }

    func time(_ field: KeyPath<fl_state, Int64>) -> MonotonicTime? {
        let time = self[field]
        return time > 0 ? MonotonicTime(nanoseconds: time) : nil
    }

    /// The original words at the C library's calls that we have hooked.
    var hookedWords: [UInt64: UInt64] {
        Self.hookedWords(of: read(fl_state.self, at: Int(FL_STATE)))
    }

    static func hookedWords(of state: fl_state) -> [UInt64: UInt64] {
        let (words, after, hooked) = (state.hooked_words, state.after, state.hooked)
        let all = [
            (words.0, after.0), (words.1, after.1), (words.2, after.2), (words.3, after.3),
            (words.4, after.4), (words.5, after.5),
        ]
        var result: [UInt64: UInt64] = [:]
        for (index, (word, after)) in all.enumerated() where hooked & (1 << UInt64(index)) != 0 {
            result[after &- 7] = word
        }
        return result
    }

    /// Notes where a hooked call continues, and its original word.
    func setReturn(of call: CallSites.Call, to address: UInt64, word: UInt64) {
        prepareReturn(of: call, to: address, word: word)
        set(\.hooked, self[\.hooked] | 1 << UInt64(call.index))
    }

    /// The same for a call that will be hooked.
    private func prepareReturn(of call: CallSites.Call, to address: UInt64, word: UInt64) {
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
    func setHook(at address: UInt64, word: UInt64) {
        let hook = fl_patch(address: address, word: word, target: AreaCode.debugState)
        withUnsafeBytes(of: hook) { write(Array($0), at: Self.offset(\.hook)) }
    }

    /// Keeps the area mapped at the end: a thread may be in a signpost or a mark at any time, even
    /// if nothing else shows it.
    func keep() { set(\.stays, 1) }

    /// Forgets a call that was not hooked after all.
    func forgetReturn(of call: CallSites.Call) {
        set(\.hooked, self[\.hooked] & ~(1 << UInt64(call.index)))
    }
}
