import ProfileModel

/// Keeps track of where code is mapped, at little cost: the size of the address space at each
/// look (1 µs), the size of its executable part when that moved (8 µs), and the whole list of
/// mappings when that moved, too. Writable code (some JITs') does not count as executable there:
/// for its sake the list is also read when the last time was a while ago.
struct MappingWatch: ~Copyable {
    private let pid: Int32
    private var sizeFile: ProcFile?
    private var statusFile: ProcFile?
    private var buffer = ReadBuffer(capacity: 16384)
    private var totalPages: Int64 = -1
    private var codeSize: Int64 = -1
    /// A library is mapped as a whole first, and its code over it: the size moves before.
    private var looksToSettle = 0
    private(set) var lastRead = MonotonicTime(nanoseconds: 0)
    /// When the list was last there to be read.
    private(set) var lastSeen = MonotonicTime(nanoseconds: 0)
    /// Of the code: when it was seen.
    private(set) var lastChange: MonotonicTime?
    private var lastCheck = MonotonicTime(nanoseconds: 0)
    private static let aWhile = TimeSpan.milliseconds(10)
    private static let longAgo = TimeSpan.milliseconds(20)
    private static let justRead = TimeSpan.milliseconds(2)
    private(set) var code: [CodeMapping] = []
    /// All mappings, ascending: where a stack can end.
    private var regions: [Region] = []

    /// A mapping that may hold a stack.
    struct Region: Hashable {
        var start: UInt64
        var end: UInt64
        /// The kernel's, or one behind a guard page, as thread libraries make them; else it may
        /// be memory in which stacks are a few among many things (Go's).
        var isStack: Bool
        /// The kernel's: it grows downwards when it is used.
        var isGrowing: Bool
    }

    init(pid: Int32) { self.pid = pid }

    /// How many libraries there were when the list was read, as far as somebody tells.
    private var toldLibraries = -1
    /// Whether somebody tells of all code that is mapped.
    private var isTold = false

    /// The code mappings if they changed since the last call, else nil.
    ///
    /// - Parameter libraries: how many the linker has loaded, where it tells: then only memory that
    ///   is made executable otherwise need be looked for, and that now and then. Reading the list
    ///   keeps the program from mapping anything meanwhile.
    mutating func changes(at now: MonotonicTime, libraries: Int? = nil) -> [CodeMapping]? {
        if isTold { return nil }
        if let libraries {
            if libraries != toldLibraries {
                toldLibraries = libraries
                return refreshed(at: now)
            }
            guard now - lastCheck > Self.aWhile else { return nil }
        }
        let pages = size()
        guard pages > 0 else { return nil }
        if pages != totalPages {
            totalPages = pages
            looksToSettle = 3
        }
        // Memory that is only made executable later does not move the total.
        guard looksToSettle > 0 || now - lastCheck > Self.aWhile else { return nil }
        looksToSettle = max(0, looksToSettle - 1)
        lastCheck = now
        statusFile?.read(into: &buffer)
        let size = ProcFormats.field("VmLib:", buffer.text) ?? -1
        let mayHaveWritableCode = looksToSettle > 0 && now - lastRead > Self.longAgo
        guard size != codeSize || mayHaveWritableCode else { return nil }
        codeSize = size
        return refreshed(at: now)
    }

    /// Reads the list anew; nil when it is as it was, or the process is gone: the list comes in
    /// pages, and of a process that ends meanwhile only the first of them.
    mutating func refreshed(at now: MonotonicTime) -> [CodeMapping]? {
        lastRead = now
        buffer.readAll("maps", of: pid)
        let lines = ProcFormats.maps(buffer.text)
        guard !lines.isEmpty, size() > 0 else { return nil }
        lastSeen = now
        regions = Self.regions(lines)
        let newer = lines.filter { $0.isExecutable && $0.path != "[vsyscall]" }.map {
            CodeMapping(
                start: $0.start, end: $0.end, fileOffset: $0.fileOffset, path: $0.path,
                inode: $0.inode)
        }
        guard newer != code else { return nil }
        code = newer
        lastChange = now
        return newer
    }

    /// What is known of the process that this one was forked off, a moment ago.
    ///
    /// - Parameter isTold: what it maps from now on is told.
    mutating func copy(
        _ other: borrowing MappingWatch, at now: MonotonicTime, isTold: Bool
    ) {
        self.isTold = isTold
        code = other.code
        regions = other.regions
        codeSize = other.codeSize
        lastRead = now
        lastSeen = now
        lastChange = now
    }

    /// Takes what is known of a process that is gone, besides what was seen of it.
    ///
    /// - Returns: all of it; nil when that is nothing new.
    mutating func add(_ known: [CodeMapping], at now: MonotonicTime) -> [CodeMapping]? {
        let missing = known.filter { known in
            !code.contains { $0.start < known.end && known.start < $0.end }
        }
        guard !missing.isEmpty else { return nil }
        code = (code + missing).sorted { $0.start < $1.start }
        lastChange = now
        return code
    }

    /// Code was mapped, over what was there. A program that makes code itself does so again and again,
    /// piece by piece: from then on the list is read, where such pieces are one.
    ///
    /// - Returns: whether that is the list now; else it is looked at as any other's.
    mutating func map(_ newer: [CodeMapping], at now: MonotonicTime) -> Bool {
        if newer.contains(where: \.path.isEmpty) { isTold = false }
        guard isTold else { return false }
        for mapping in newer {
            code = code.flatMap { $0.parts(outside: mapping.start..<mapping.end) } + [mapping]
        }
        code.sort { $0.start < $1.start }
        lastChange = now
        return true
    }

    /// Of the address space, in pages; 0 once the process has given it up, as the ending do first.
    private mutating func size() -> Int64 {
        if sizeFile == nil { open(of: pid) }
        let size = sizeOfOpened()
        guard size <= 0, let tid = FirstThread.orHolder(of: pid) else { return size }
        open(of: tid)
        return sizeOfOpened()
    }

    private mutating func open(of tid: Int32) {
        sizeFile = ProcFile("/proc/\(tid)/statm")
        statusFile = ProcFile("/proc/\(tid)/status")
    }

    private mutating func sizeOfOpened() -> Int64 {
        sizeFile?.read(into: &buffer)
        var text = buffer.text
        return text.decimal() ?? 0
    }

    /// A later exec: the file of sizes is another process image's.
    ///
    /// - Parameter isTold: what is mapped now is told (``map(_:at:)``).
    mutating func restart(isTold: Bool = false) {
        self.isTold = isTold
        sizeFile = nil
        statusFile = nil
        totalPages = -1
        codeSize = -1
        toldLibraries = -1
        lastChange = nil
        lastSeen = MonotonicTime(nanoseconds: 0)
        code = []
        regions = []
    }

    private static func regions(_ lines: [ProcFormats.MapsLine]) -> [Region] {
        var guardEnd: UInt64 = 0
        return lines.map { line in
            if !line.isReadable { guardEnd = line.end }
            return Region(
                start: line.start, end: line.end,
                isStack: line.path == "[stack]" || line.start == guardEnd,
                isGrowing: line.path == "[stack]")
        }
    }

    func isCode(_ address: UInt64) -> Bool {
        code.contains { $0.start <= address && address < $0.end }
    }

    /// Whether an address lies outside of all mappings seen, and the list may be read again:
    /// a new thread's stack, or the first thread's that has grown.
    func isUnknown(_ address: UInt64, at now: MonotonicTime) -> Bool {
        region(around: address) == nil && now - lastRead > Self.justRead
    }

    /// The mapping that holds an address, as last seen; nil when none was seen there.
    func region(around address: UInt64) -> Region? {
        let index = regions.partitionIndex { $0.end > address }
        guard index < regions.count, regions[index].start <= address else { return nil }
        return regions[index]
    }
}

extension CodeMapping {
    /// What is left of it where something else was mapped.
    fileprivate func parts(outside range: Range<UInt64>) -> [CodeMapping] {
        guard start < range.upperBound, range.lowerBound < end else { return [self] }
        var (before, after) = (self, self)
        before.end = range.lowerBound
        after.start = range.upperBound
        after.fileOffset = fileOffset &+ (range.upperBound &- start)
        return [before, after].filter { $0.start < $0.end }
    }
}
