import ProcessIO
import ProfileModel

/// What a session knows of a process that the kernel's events describe.
struct EventFollowedProcess {
    let handle: ProcessHandle?
    /// Threads that have ended. The scheduler may still report how.
    var leaving: [Leaving] = []
    /// When the last of its threads ended.
    var end: MonotonicTime?
    var looksSinceEnd = 0

    init(handle: ProcessHandle?) { self.handle = handle }

    /// For how many more looks the scheduler is asked to follow the first thread. It may have
    /// reported that thread's end, but another thread may have its place now.
    private var looksToFollow = 0

    /// After this many looks no more reports come: the scheduler reports what happened up to the
    /// look before the last one.
    static let enoughLooks = 4
    static let mostLooks = 250

    struct Leaving {
        let thread: TracedThread
        let time: MonotonicTime
        var looks = 0

        init(thread: TracedThread, time: MonotonicTime) {
            self.thread = thread
            self.time = time
        }

        var isKnown: Bool {
            thread.tally.end != nil || looks >= EventFollowedProcess.enoughLooks
        }
    }

    func isLeaving(_ thread: TracedThread) -> Bool {
        leaving.contains { $0.thread === thread }
    }

    /// The thread has not ended after all. Returns false if no end had been reported.
    mutating func withdraw(_ thread: TracedThread) -> Bool {
        let count = leaving.count
        leaving.removeAll { $0.thread === thread }
        guard leaving.count < count else { return false }
        looksToFollow = Self.enoughLooks
        return true
    }

    /// The ended threads about which nothing more will become known. As long as another thread
    /// lives, it may take the first thread's place.
    mutating func takeLeaving(first pid: Int32, mayWait: Bool) -> [Leaving] {
        guard !leaving.isEmpty else { return [] }
        for index in leaving.indices { leaving[index].looks += 1 }
        let taken = leaving.filter { leaving in
            !mayWait || leaving.isKnown && (leaving.thread.tid != pid || end != nil)
        }
        leaving.removeAll { leaving in taken.contains { $0.thread === leaving.thread } }
        return taken
    }

    /// Whether to ask the scheduler once more to follow the first thread.
    mutating func takeLookToFollow() -> Bool {
        guard looksToFollow > 0 else { return false }
        looksToFollow -= 1
        return true
    }
}
