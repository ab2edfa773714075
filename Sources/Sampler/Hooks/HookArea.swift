import CAgent
import CSystem
import ProfileModel
import Synchronization

/// The memory that holds the code around the program's initialisers and what it noted: shared with
/// the program, which executes and writes it.
///
/// Unsafe code: every access lies within the size that was mapped, and what the program may have
/// written is checked by whoever reads it.
final class HookArea {
    /// Where the program has mapped it.
    let address: UInt64
    let layout: Layout
    private let base: UnsafeMutableRawPointer

    /// Where things lie in it. The head is a struct fl_shared, as every mapping's that a thread of
    /// the program makes for us.
    struct Layout {
        static let loads = 64
        static let code = 128
        static let thunkSize = 16
        /// A launch that loads more is told of the first.
        static let opens = 128
        static let libraries = 256
        private static let loadedInitializers = 2048

        /// Those of the start-up, and room for those of loaded libraries behind them.
        let initializers: Int
        let records: Int
        let thunks: Int
        let libraryThunks: Int
        let recordsOffset: Int
        let opensOffset: Int
        let librariesOffset: Int
        let marksOffset: Int
        /// For trampolines of code within reach.
        let trampolinesOffset: Int
        let stacksOffset: Int
        /// Of the program's signposts; only what is used becomes memory.
        let ringOffset: Int
        /// In bytes; whole pages.
        let size: Int

        /// - Parameter marks: how many records there are of what marks say.
        init(initializers: Int, marks: Int = 0) {
            self.initializers = initializers
            records = initializers + Self.loadedInitializers
            var end = Self.code + HookArea.code.count
            func take(_ count: Int, of size: Int, aligned: Int = 64) -> Int {
                let start = (end + aligned - 1) / aligned * aligned
                end = start + count * size
                return start
            }
            thunks = take(initializers, of: Self.thunkSize)
            libraryThunks = take(2 * Self.libraries, of: Self.thunkSize)
            recordsOffset = take(records, of: MemoryLayout<fl_initializer>.size)
            opensOffset = take(Self.opens, of: MemoryLayout<fl_open>.size)
            librariesOffset = take(Self.libraries, of: MemoryLayout<fl_library>.size)
            marksOffset = take(marks, of: MemoryLayout<fl_mark>.size)
            trampolinesOffset = take(marks == 0 ? 0 : TrampolineSpace.size, of: 1)
            stacksOffset = take(Self.opens, of: Int(FL_OPEN_STACK), aligned: 4096)
            ringOffset = take(SignpostRing.size(), of: 1, aligned: 4096)
            size = (end + 4095) / 4096 * 4096
        }
    }

    /// Maps the descriptor `number` of process `pid`. nil when that fails.
    init?(pid: Int32, descriptor: Int32, address: UInt64, layout: Layout) {
        guard let base = fl_map_shared("/proc/\(pid)/fd/\(descriptor)", layout.size) else {
            return nil
        }
        self.base = base
        self.address = address
        self.layout = layout
    }

    deinit { fl_unmap(base, layout.size) }

    var range: Range<UInt64> { address..<(address &+ UInt64(layout.size)) }

    // MARK: Filling

    /// Writes the code, its words, and the thunks: one for each initialiser of the start-up, with
    /// its record, and two for each library that may be loaded.
    ///
    /// - Parameters:
    ///   - pid: the process's id, as it knows it itself.
    ///   - agent: knows where the slots are, which tell of filters for system calls.
    ///   - debug: the address of the linker's `r_debug`.
    ///   - known: how many libraries it lists so far.
    func fill(with functions: [UInt64], pid: Int32, agent: Agent, debug: UInt64, known: Int) {
        precondition(functions.count == layout.initializers)
        write(Self.code, at: Layout.code)
        let words = fl_hook_words(
            records: position(layout.recordsOffset), pid: UInt64(pid),
            slots: agent.slotsWord, head: address, debug: debug, loads: position(Layout.loads),
            opens: position(layout.opensOffset),
            libraries: position(layout.librariesOffset), thunks: position(layout.libraryThunks),
            stacks: position(layout.stacksOffset), most_records: UInt64(layout.records),
            most_opens: UInt64(Layout.opens), most_libraries: UInt64(Layout.libraries),
            ring: 0, marks: position(layout.marksOffset))
        withUnsafeBytes(of: words) {
            write(Array($0), at: Layout.code + Int(Self.description.words))
        }
        var loads = fl_loads()
        loads.records = UInt32(functions.count)
        loads.known = UInt32(known)
        withUnsafeBytes(of: loads) { write(Array($0), at: Layout.loads) }
        for (index, function) in functions.enumerated() {
            writeThunk(
                index, at: layout.thunks + index * Layout.thunkSize,
                to: Self.description.initializer)
            write(
                bytes(function),
                at: layout.recordsOffset + index * MemoryLayout<fl_initializer>.size)
        }
        for index in 0..<(2 * Layout.libraries) {
            writeThunk(
                index, at: layout.libraryThunks + index * Layout.thunkSize,
                to: Self.description.driver)
        }
    }

    /// Where the thunk of an initialiser of the start-up is.
    func thunkAddress(_ index: Int) -> UInt64 { position(layout.thunks + index * Layout.thunkSize) }

    /// What takes the place of the linker's `_dl_debug_state`.
    var debugState: UInt64 { position(Layout.code + Int(Self.description.debug_state)) }

    private func position(_ offset: Int) -> UInt64 { address &+ UInt64(offset) }

    /// `mov $number, %eax; jmp target`
    private func writeThunk(_ number: Int, at offset: Int, to target: UInt32) {
        let distance = Int32(truncatingIfNeeded: Layout.code + Int(target) - (offset + 10))
        write(
            [0xB8] + bytes(UInt32(truncatingIfNeeded: number)) + [0xE9] + bytes(distance),
            at: offset)
    }

    private func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    private func write(_ bytes: [UInt8], at offset: Int) {
        precondition(offset >= 0 && offset + bytes.count <= layout.size)
        UnsafeMutableRawBufferPointer(start: base + offset, count: bytes.count)
            .copyBytes(from: bytes)
    }

    /// Nobody will tell any more of filters for system calls: what is so now is so for good.
    func keepFiltered(_ isFiltered: Bool) {
        let offset = MemoryLayout<fl_shared>.offset(of: \fl_shared.filtered) ?? 0
        (base + offset).assumingMemoryBound(to: Atomic<UInt32>.self).pointee
            .store(isFiltered ? 1 : 0, ordering: .sequentiallyConsistent)
    }

    // MARK: Signposts

    /// Makes the ring of the program's signposts, once. It must not outlive this.
    ///
    /// - Parameters:
    ///   - pid: the process's id, as it knows it itself.
    ///   - start: nothing can be older.
    func makeSignposts(pid: Int32, since start: MonotonicTime) -> ProgramSignposts {
        ProgramSignposts(
            ring: SignpostRing(memory: base + layout.ringOffset, process: pid, start: start),
            address: position(layout.ringOffset))
    }

    // MARK: Marks

    /// Writes what the marks of a number say, from now on into the ring of signposts.
    ///
    /// - Parameter texts: the beginnings of slots, and name and category in one piece.
    func fillMarks(_ records: [MarkRecord]) {
        for (number, record) in records.enumerated() {
            write(record.bytes, at: layout.marksOffset + number * MemoryLayout<fl_mark>.size)
        }
        setRing(position(layout.ringOffset))
    }

    /// Nothing is noted any more.
    func stopMarks() { setRing(0) }

    /// The code may run at any time.
    private func setRing(_ address: UInt64) {
        let offset =
            Layout.code + Int(Self.description.words)
            + (MemoryLayout<fl_hook_words>.offset(of: \fl_hook_words.ring) ?? 0)
        (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee
            .store(address, ordering: .sequentiallyConsistent)
    }

    /// What trampolines call.
    var markRoutine: UInt64 { position(Layout.code + Int(Self.description.mark)) }

    /// Room for trampolines, once. It must not outlive this.
    func makeTrampolineSpace() -> TrampolineSpace {
        TrampolineSpace(
            memory: base + layout.trampolinesOffset, size: TrampolineSpace.size,
            address: position(layout.trampolinesOffset), routine: markRoutine)
    }

    // MARK: Handing over

    /// Lets the thread go on that mapped it. false: it has given up waiting.
    func accept() -> Bool {
        phase.pointee.compareExchange(
            expected: UInt32(FL_PHASE_MAPPED), desired: UInt32(FL_PHASE_ACCEPTED),
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Whether that thread is through with it.
    var isReady: Bool { phase.pointee.load(ordering: .acquiring) == UInt32(FL_PHASE_READY) }

    private var phase: UnsafeMutablePointer<Atomic<UInt32>> {
        let offset = MemoryLayout<fl_shared>.offset(of: \fl_shared.phase) ?? 0
        return (base + offset).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    // MARK: What was noted

    /// How many calls, libraries and records there are, none more than there is room for.
    var counts: (opens: Int, libraries: Int, records: Int) {
        let loads = value(fl_loads.self, at: Layout.loads)
        return (
            min(Int(loads.opens), Layout.opens), min(Int(loads.libraries), Layout.libraries),
            min(Int(loads.records), layout.records)
        )
    }

    /// One run of an initialiser.
    struct Note: Hashable {
        var function: UInt64
        var tid: Int32
        /// The loaded library whose it is; nil: one of the start-up.
        var library: Int?
        var start: MonotonicTime
        /// nil: it has not returned.
        var end: MonotonicTime?
        /// Of the thread, in nanoseconds.
        var cpuAtStart: Int64
        var cpuAtEnd: Int64
    }

    /// nil: it has not run.
    func note(_ index: Int) -> Note? {
        precondition(index >= 0 && index < layout.records)
        let record = value(
            fl_initializer.self,
            at: layout.recordsOffset + index * MemoryLayout<fl_initializer>.size)
        let hasReturned = record.state == UInt32(FL_INITIALIZER_RETURNED)
        guard hasReturned || record.state == UInt32(FL_INITIALIZER_RUNNING) else { return nil }
        let library = Int(truncatingIfNeeded: record.library) - 1
        return Note(
            function: record.function, tid: Int32(truncatingIfNeeded: record.tid),
            library: library >= 0 && library < Layout.libraries ? library : nil,
            start: MonotonicTime(nanoseconds: record.start_ns),
            end: hasReturned ? MonotonicTime(nanoseconds: record.end_ns) : nil,
            cpuAtStart: record.start_cpu_ns, cpuAtEnd: record.end_cpu_ns)
    }

    /// A library that was loaded by a call.
    struct Load: Hashable {
        /// Its `struct link_map`.
        var map: UInt64
        /// How many initialisers it has.
        var initializers: Int
        /// The call's number; nil when that found no room.
        var open: Int?
    }

    func load(_ index: Int) -> Load {
        precondition(index >= 0 && index < Layout.libraries)
        let library = value(
            fl_library.self, at: layout.librariesOffset + index * MemoryLayout<fl_library>.size)
        let open = Int(truncatingIfNeeded: library.open)
        let own = library.initializer == 0 ? 0 : 1
        return Load(
            map: library.map,
            initializers: Int(truncatingIfNeeded: library.count & 0xFFFF_FFFF) + own,
            open: open >= 0 && open < Layout.opens ? open : nil)
    }

    /// A call that loads.
    struct Open {
        var start: MonotonicTime
        var tid: Int32
        /// Of the code that told the linker's hook; the call itself is further out.
        var stack: Snapshot
    }

    func open(_ index: Int) -> Open {
        precondition(index >= 0 && index < Layout.opens)
        let open = value(fl_open.self, at: layout.opensOffset + index * MemoryLayout<fl_open>.size)
        var registers = Registers()
        withUnsafeBytes(of: open.registers) { bytes in
            for (index, number) in Self.registerNumbers.enumerated() {
                registers[number] = bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
            }
        }
        let size = min(max(Int(open.copied_size), 0), Int(FL_OPEN_STACK))
        let copy = UnsafeRawBufferPointer(
            start: base + layout.stacksOffset + index * Int(FL_OPEN_STACK), count: size)
        return Open(
            start: MonotonicTime(nanoseconds: open.start_ns),
            tid: Int32(truncatingIfNeeded: open.tid),
            stack: Snapshot(
                registers: registers,
                stack: StackCopy(start: registers.stackPointer, bytes: [UInt8](copy))))
    }

    /// The DWARF numbers of a call's registers: rsp rip rbp rbx r12 r13 r14 r15.
    private static let registerNumbers = [7, 16, 6, 3, 12, 13, 14, 15]

    private func value<Value>(_ type: Value.Type, at offset: Int) -> Value {
        precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= layout.size)
        return (base + offset).loadUnaligned(as: type)
    }

    // MARK: The code

    nonisolated(unsafe) private static let description = fl_hooks_describe()

    fileprivate static let code = [UInt8](
        UnsafeBufferPointer(start: description.code, count: Int(description.length)))
}
