import Architecture
package import CAgent
package import ProfileModel

/// Our code's notes in the program: initialisers, calls that load libraries with the libraries that
/// they loaded, and the launch's borders.
extension AgentMemory {
    package static let mostRecords = Int(FL_MOST_RECORDS)

    /// The numbers of calls, libraries and records, each limited to the room for them.
    package var counts: (opens: Int, libraries: Int, records: Int) {
        (
            min(Int(value(\.opens)), Int(FL_MOST_OPENS)),
            min(Int(value(\.libraries)), Int(FL_MOST_LIBRARIES)),
            min(Int(value(\.records)), Self.mostRecords)
        )
    }

    /// True if our code will note the next call that loads libraries.
    package var hasRoomForLoads: Bool {
        !isFiltered && counts.opens < Int(FL_MOST_OPENS)
            && counts.libraries < Int(FL_MOST_LIBRARIES)
    }

    /// One run of an initialiser.
    package struct Note: Hashable {
        package var function: UInt64
        package var tid: Int32
        /// The library that it belongs to.
        package var library: Int
        package var start: MonotonicTime
        /// nil: it has not returned.
        package var end: MonotonicTime?
        /// CPU time of the thread, in nanoseconds.
        package var cpuAtStart: Int64
        package var cpuAtEnd: Int64
    }

    /// nil: it has not run.
    package func note(_ index: Int) -> Note? {
        precondition(index >= 0 && index < Self.mostRecords)
        let record = read(
            fl_initializer.self, at: Int(FL_RECORDS) + index * MemoryLayout<fl_initializer>.size)
        let hasReturned = record.state == UInt32(FL_INITIALIZER_RETURNED)
        guard hasReturned || record.state == UInt32(FL_INITIALIZER_RUNNING) else {
            return nil
        }
        return Note(
            function: record.function, tid: Int32(truncatingIfNeeded: record.tid),
            library: Int(truncatingIfNeeded: record.library & 0xFFFF),
            start: MonotonicTime(nanoseconds: record.start_ns),
            end: hasReturned ? MonotonicTime(nanoseconds: record.end_ns) : nil,
            cpuAtStart: record.start_cpu_ns, cpuAtEnd: record.end_cpu_ns)
    }

    /// A library that the linker has loaded.
    package struct Load: Hashable {
        /// Its `struct link_map`.
        package var map: UInt64
        /// How many of its initialisers our code sees.
        package var initializers: Int
        /// The number of the call that loaded it; nil: the start-up loaded it.
        var open: Int?
    }

    package func load(_ index: Int) -> Load {
        precondition(index >= 0 && index < Int(FL_MOST_LIBRARIES))
        let library = read(
            fl_library.self, at: Int(FL_LIBRARIES) + index * MemoryLayout<fl_library>.size)
        let open = Int(truncatingIfNeeded: library.open)
        let own = library.initializer == 0 ? 0 : 1
        return Load(
            map: library.map,
            initializers: Int(truncatingIfNeeded: library.count & 0xFFFF_FFFF) + own,
            open: open >= Int(FL_FIRST_OPEN) && open < Int(FL_MOST_OPENS) ? open : nil)
    }

    /// The data kept of a library when it was loaded. They identify the library's code even without
    /// the process; nil: nothing was kept.
    package func notedLibrary(_ index: Int) -> NotedLibrary? {
        precondition(index >= 0 && index < Int(FL_MOST_LIBRARIES))
        let library = read(
            fl_library.self, at: Int(FL_LIBRARIES) + index * MemoryLayout<fl_library>.size)
        guard library.kept_size == FL_FILE_START,
            library.kept <= UInt64(FL_STACKS_SIZE - FL_FILE_START - FL_FILE_NAME)
        else { return nil }
        let place = Int(FL_STACKS) + Int(library.kept)
        let name = copy(at: place + Int(FL_FILE_START), count: Int(FL_FILE_NAME))
        guard let end = name.firstIndex(of: 0) else { return nil }
        return NotedLibrary(
            path: String(decoding: name[..<end], as: UTF8.self), address: library.bias,
            start: copy(at: place, count: Int(FL_FILE_START)))
    }

    /// The first of the start-up's libraries.
    package var notedLibraries: [NotedLibrary] {
        (0..<min(counts.libraries, Int(FL_MOST_FILES))).compactMap(notedLibrary)
    }

    /// The number of the start-up's libraries that found no room.
    package var unnotedLibraries: Int { max(0, initialLibraries - Int(FL_MOST_FILES)) }

    /// True if the linker will still reach our code for a library's initialisers. The program may
    /// run its own initialisers by itself, so these never count.
    package var hasPendingInitializers: Bool {
        let first = self[\.real_init] == 0 ? 0 : 1
        return (first..<max(first, counts.libraries)).contains { index in
            let library = read(
                fl_library.self, at: Int(FL_LIBRARIES) + index * MemoryLayout<fl_library>.size)
            return library.isLed && library.given_back == 0
        }
    }

    /// The number of libraries that the start-up loaded: they come first.
    package var initialLibraries: Int {
        (0..<counts.libraries).prefix { load($0).open == nil }.count
    }

    /// A moment at which our code was called.
    package struct Moment {
        package var time: MonotonicTime
        package var tid: Int32
        /// CPU time of the thread, in nanoseconds.
        package var cpu: Int64
        /// The stack of the code that called ours; its callers are further out.
        package var stack: Snapshot
        package var counters: ProcessCounters
    }

    /// The moment of a call that loads libraries.
    package func open(_ index: Int) -> Moment {
        precondition(index >= 0 && index < Int(FL_MOST_OPENS))
        let open = read(fl_open.self, at: Int(FL_OPENS) + index * MemoryLayout<fl_open>.size)
        var registers = Registers()
        withUnsafeBytes(of: open.registers) { bytes in
            for (index, number) in RegisterOrder.preserved.enumerated() {
                registers[number] = bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
            }
        }
        let place = min(Int(open.stack), Int(FL_STACKS_SIZE))
        let most = min(Int(FL_OPEN_STACK), Int(FL_STACKS_SIZE) - place)
        let size = min(max(Int(clamping: open.copied_size), 0), most)
        return Moment(
            time: MonotonicTime(nanoseconds: max(0, open.start_ns)),
            tid: Int32(truncatingIfNeeded: open.tid), cpu: open.cpu_ns,
            stack: Snapshot(
                registers: registers,
                stack: StackCopy(
                    start: registers.stackPointer,
                    bytes: copy(at: Int(FL_STACKS) + place, count: size))),
            counters: ProcessCounters(
                minorFaults: open.minor_faults, majorFaults: open.major_faults,
                readBytes: open.blocks_read &* 512))
    }

    /// A border of the launch; nil until it is reached.
    package func border(_ border: NotedBorder) -> Moment? {
        guard value(\.borders) & (1 << border.rawValue) != 0 else { return nil }
        return open(Int(border.rawValue))
    }
}

/// The launch's borders that our code in the program notes itself.
package enum NotedBorder: UInt32, CaseIterable {
    /// Every library is mapped and relocated.
    case relocated = 0
    case main = 1

    package var kind: LaunchBorder.Kind {
        switch self {
        case .relocated: .relocated
        case .main: .main
        }
    }
}

/// Signposts and marks, which go through the area's ring.
extension AgentMemory {
    /// Makes the ring of the program's signposts, once. It must not outlive this area.
    ///
    /// - Parameters:
    ///   - pid: the process's id, as the process itself knows it.
    ///   - start: no event can be older than this.
    package func makeSignposts(pid: Int32, since start: MonotonicTime) -> ProgramSignposts {
        ProgramSignposts(
            ring: SignpostRing(memory: base + Int(FL_RING), process: pid, start: start),
            address: position(Int(FL_RING)))
    }

    /// Writes the records of the marks, by number; from now on hits go into the ring of signposts.
    package func fillMarks(_ records: [MarkRecord]) {
        for (number, record) in records.prefix(Int(FL_MOST_MARKS)).enumerated() {
            write(record.bytes, at: Int(FL_MARKS) + number * MemoryLayout<fl_mark>.size)
        }
        set(\.ring, 1)
    }

    /// From now on no marks are noted.
    package func stopMarks() { set(\.ring, 0) }

    /// Makes room for trampolines near the area, and near the island if there is one; once. They
    /// must not outlive this area.
    package func makeTrampolineSpaces() -> [TrampolineSpace] {
        let routine = position(Int(AgentCode.mark))
        let island = islandRange?.lowerBound ?? 0
        let near = TrampolineSpace(
            memory: base + Int(FL_TRAMPOLINES), size: TrampolineSpace.size,
            address: position(Int(FL_TRAMPOLINES)), routine: routine)
        guard island != 0 else { return [near] }
        let far = TrampolineSpace(
            memory: base + Int(FL_ISLAND), size: TrampolineSpace.size, address: island,
            routine: routine)
        return [far, near]
    }
}

extension fl_library {
    /// True if the linker found our entries in place of its own.
    package var isLed: Bool { own.0 != 0 || own.1 != 0 }
}
