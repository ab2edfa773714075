import ProcessIO
import ProfileModel

/// Keeps track of where code is mapped, at little cost. Each look reads the size of the address
/// space (1 µs). If that moved, it reads the size of the executable part (8 µs). If that moved,
/// too, it reads the whole list of mappings. Writable code (some JITs') does not count as
/// executable there. So after a move of the size the list is read, too: at first each 20 ms, then more
/// and more seldom, as long as nothing is found. (Reading chromium's list takes 1 ms, during which
/// chromium can map nothing. If a thread is seen in unknown code itself, the list is read at once.)
struct MappingWatch: ~Copyable {
    private let space: any AddressSpace
    private var totalPages: Int64 = -1
    private var codeSize: Int64 = -1
    /// What both were just before the list was read.
    private var listed: (pages: Int64, code: Int64) = (-1, -1)
    /// The linker maps a library as a whole first, and its code over it. So the size moves before
    /// the code is there.
    private var looksToSettle = 0
    private(set) var lastRead = MonotonicTime(nanoseconds: 0)
    /// When the list could last be read.
    private(set) var lastSeen = MonotonicTime(nanoseconds: 0)
    /// When the last change of the code was seen.
    private(set) var lastChange: MonotonicTime?
    private var lastCheck = MonotonicTime(nanoseconds: 0)
    private static let aWhile = TimeSpan.milliseconds(10)
    private static let firstPause = TimeSpan.milliseconds(20)
    private static let longestPause = TimeSpan.milliseconds(320)
    /// For writable code.
    private var search = RepeatedSearch(
        at: MonotonicTime(nanoseconds: 0), firstPause: firstPause)
    /// Whether the size of the address space moved since the list was read.
    private var hasMoved = false
    private static let justRead = TimeSpan.milliseconds(2)
    private(set) var code: [CodeMapping] = []
    /// All mappings, ascending. They show where a stack can end.
    private var regions: [Region] = []

    /// A mapping that may hold a stack.
    struct Region: Hashable {
        var start: UInt64
        var end: UInt64
        /// True: the kernel made it, or it lies behind a guard page, as thread libraries make them.
        /// False: it may be memory in which stacks are a few among many things (Go's).
        var isStack: Bool
        /// True: it is the kernel's, and grows downwards when it is used.
        var isGrowing: Bool
        /// The contents of its absent pages.
        var absent = AbsentPages.unknown
    }

    init(_ space: any AddressSpace) { self.space = space }

    /// How many libraries the linker reported when the list was read.
    private var toldLibraries = -1
    /// Whether all code that is mapped is reported to us.
    private var isReported = false

    /// The code mappings, if they changed since the last call; else nil.
    ///
    /// - Parameter libraries: how many libraries the linker has loaded, if it reports that. Then
    ///   only memory that is made executable in other ways must be looked for, and that only now
    ///   and then. Reading the list keeps the program from mapping anything meanwhile.
    mutating func changes(at now: MonotonicTime, libraries: Int? = nil) -> [CodeMapping]? {
        if isReported { return nil }
        if let libraries {
            if libraries != toldLibraries {
                toldLibraries = libraries
                return refreshed(at: now)
            }
            guard now - lastCheck > Self.aWhile else { return nil }
        }
        let pages = space.pages()
        guard pages > 0 else { return nil }
        if pages != totalPages {
            totalPages = pages
            looksToSettle = 3
            hasMoved = true
        }
        // Memory that is only made executable later does not move the total.
        guard looksToSettle > 0 || now - lastCheck > Self.aWhile else { return nil }
        looksToSettle = max(0, looksToSettle - 1)
        lastCheck = now
        let size = space.code()
        let mayHaveWritableCode = hasMoved && search.isDue(at: now)
        guard size != codeSize || mayHaveWritableCode else { return nil }
        codeSize = size
        if mayHaveWritableCode { search.postpone(at: now, upTo: Self.longestPause) }
        return refreshed(at: now)
    }

    /// Code was found, and more may follow.
    private mutating func restartSearch(at now: MonotonicTime) {
        search = RepeatedSearch(at: now, firstPause: Self.firstPause)
        search.postpone(at: now, upTo: Self.longestPause)
    }

    /// Reads the list anew. nil if it did not change, or if the process is gone: the list comes in
    /// pages, and if the process ends meanwhile only the first pages come.
    mutating func refreshed(at now: MonotonicTime) -> [CodeMapping]? {
        lastRead = now
        listed = (space.pages(), space.code())
        let lines = space.mappings()
        guard !lines.isEmpty, space.pages() > 0 else { return nil }
        lastSeen = now
        hasMoved = false
        regions = Self.regions(lines)
        let newer = lines.filter { $0.isExecutable && $0.path != "[vsyscall]" }.map {
            CodeMapping(
                start: $0.start, end: $0.end, fileOffset: $0.fileOffset, path: $0.path,
                inode: $0.inode)
        }
        guard newer != code else { return nil }
        code = newer
        lastChange = now
        restartSearch(at: now)
        return newer
    }

    /// Whether code was mapped or unmapped since the list was read, or while it was.
    mutating func lacksCode() -> Bool {
        guard !isReported, listed.pages >= 0, space.pages() != listed.pages else { return false }
        return space.code() != listed.code
    }

    /// Takes over the mappings of the process that forked this one a moment ago.
    ///
    /// - Parameter isReported: whether later mappings will be reported to us.
    mutating func copy(
        _ other: borrowing MappingWatch, at now: MonotonicTime, isReported: Bool
    ) {
        self.isReported = isReported
        code = other.code
        regions = other.regions
        codeSize = other.codeSize
        lastRead = now
        lastSeen = now
        lastChange = now
        restartSearch(at: now)
    }

    /// Adds known mappings of a process that is gone to those that were seen.
    ///
    /// - Returns: all of it; nil if nothing is new.
    mutating func add(_ known: [CodeMapping], at now: MonotonicTime) -> [CodeMapping]? {
        let missing = known.filter { known in
            !code.contains { $0.start < known.end && known.start < $0.end }
        }
        guard !missing.isEmpty else { return nil }
        code = (code + missing).sorted { $0.start < $1.start }
        lastChange = now
        return code
    }

    /// Code was mapped, in the place of earlier mappings. A program that makes code itself maps it
    /// again and again, piece by piece. From then on we read the list, in which such pieces are one
    /// mapping.
    ///
    /// - Returns: true: the code mappings are up to date; false: the process is looked at like any
    ///   other.
    mutating func map(_ newer: [CodeMapping], at now: MonotonicTime) -> Bool {
        if newer.contains(where: \.path.isEmpty) {
            isReported = false
            hasMoved = true
            search = RepeatedSearch(at: now, firstPause: Self.firstPause)
        }
        guard isReported else { return false }
        code = code(with: newer)
        lastChange = now
        return true
    }

    /// The code mappings, with others in the places that these take.
    func code(with others: [CodeMapping]) -> [CodeMapping] {
        var result = code
        for mapping in others {
            result = result.flatMap { $0.parts(outside: mapping.start..<mapping.end) } + [mapping]
        }
        return result.sorted { $0.start < $1.start }
    }

    /// A later exec.
    ///
    /// - Parameter isReported: whether new mappings are reported to us (``map(_:at:)``).
    mutating func restart(isReported: Bool = false) {
        self.isReported = isReported
        space.reopen()
        search = RepeatedSearch(
            at: MonotonicTime(nanoseconds: 0), firstPause: Self.firstPause)
        totalPages = -1
        codeSize = -1
        listed = (-1, -1)
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
                isGrowing: line.path == "[stack]",
                // Private memory: no file, and not shared.
                absent: line.inode == 0 ? .zeros : .unknown)
        }
    }

    func isCode(_ address: UInt64) -> Bool {
        code.contains { $0.contains(address) }
    }

    /// Whether an address lies outside of all mappings seen, and the list may be read again. It may
    /// be a new thread's stack, or the first thread's that has grown.
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
    /// The parts of this mapping that are left where another one was mapped over it.
    fileprivate func parts(outside range: Range<UInt64>) -> [CodeMapping] {
        guard start < range.upperBound, range.lowerBound < end else { return [self] }
        var (before, after) = (self, self)
        before.end = range.lowerBound
        after.start = range.upperBound
        after.fileOffset = fileOffset &+ (range.upperBound &- start)
        return [before, after].filter { $0.start < $0.end }
    }
}

/// When something that was not found is searched for again: after longer and longer pauses.
struct RepeatedSearch {
    private var next: MonotonicTime
    private var pause: TimeSpan

    static let firstPause = TimeSpan.milliseconds(1)
    static let longestPause = TimeSpan.milliseconds(500)

    init(at now: MonotonicTime, firstPause: TimeSpan = Self.firstPause) {
        next = now
        pause = firstPause
    }

    func isDue(at now: MonotonicTime) -> Bool { now >= next }

    mutating func postpone(at now: MonotonicTime, upTo longest: TimeSpan = longestPause) {
        next = now + pause
        pause = min(pause + pause, longest)
    }
}
