import ProcessIO

/// What can be known of a process that is not traced: what ptrace would report, seen from outside.
struct ProcPoller {
    private let program: any ProgramAccess
    private var links: UInt = 0
    private var ticks = 0
    /// The folder's count of links is cheap to read, but if one thread came and another went, it
    /// does not change. So the folder is listed now and then in any case.
    private static let ticksBetweenLists = 16
    /// Where new threads are reported. A report may be lost.
    private static let ticksBetweenChecks = 128

    init(_ program: any ProgramAccess) { self.program = program }

    /// Whether another program took this one's place (or it ended).
    mutating func lookForLostImage() -> Bool {
        looks += 1
        // Our code reports each exec, except those by raw system calls.
        guard looks % Self.looksBetweenReads == 0 else { return false }
        return program.isGone
    }

    private static let looksBetweenReads = 4
    private var looks = 0

    /// A known thread is gone. A thread that began since the last look may have taken its place in
    /// the count.
    mutating func sawThreadEnd() { links &-= 1 }

    /// Whether threads came or went. Their folder has one link for each.
    ///
    /// - Parameter isTold: whether the scheduler reports new threads.
    mutating func lookForThreads(isTold: Bool) -> Bool {
        ticks += 1
        if isTold { return ticks % Self.ticksBetweenChecks == 0 }
        guard let links = program.threadLinks else { return false }
        defer { self.links = links }
        return links != self.links || ticks % Self.ticksBetweenLists == 0
    }
}
