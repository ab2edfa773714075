import ProfileModel

/// What a session knows of a process of which events tell.
struct ToldProcess {
    let handle: ProcessHandle?
    /// Threads that have ended, and of which the scheduler may still tell how.
    var leaving: [Leaving] = []
    /// When the last of its threads ended.
    var end: MonotonicTime?
    var looksSinceEnd = 0

    init(handle: ProcessHandle?) { self.handle = handle }

    /// For how many looks the scheduler is to be asked again to tell of its first thread: it may have told
    /// of that one's end, whose place another thread has now.
    private var looksToFollow = 0

    /// The scheduler tells what was up to the look before the last one.
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
            thread.tally.end != nil || looks >= ToldProcess.enoughLooks
        }
    }

    func isLeaving(_ thread: TracedThread) -> Bool {
        leaving.contains { $0.thread === thread }
    }

    /// It has not ended after all. false: that was not said.
    mutating func withdraw(_ thread: TracedThread) -> Bool {
        let count = leaving.count
        leaving.removeAll { $0.thread === thread }
        guard leaving.count < count else { return false }
        looksToFollow = Self.enoughLooks
        return true
    }

    /// Those of which all is known that will be. The first one's place may be taken by another as long
    /// as there is one.
    mutating func takeLeaving(first pid: Int32, mayWait: Bool) -> [Leaving] {
        guard !leaving.isEmpty else { return [] }
        for index in leaving.indices { leaving[index].looks += 1 }
        let taken = leaving.filter { leaving in
            !mayWait || leaving.isKnown && (leaving.thread.tid != pid || end != nil)
        }
        leaving.removeAll { leaving in taken.contains { $0.thread === leaving.thread } }
        return taken
    }

    /// Whether the scheduler is to be asked once more to tell of its first thread.
    mutating func isToBeFollowed() -> Bool {
        guard looksToFollow > 0 else { return false }
        looksToFollow -= 1
        return true
    }
}
