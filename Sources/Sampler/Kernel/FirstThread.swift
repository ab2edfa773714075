/// What all threads of a process share (memory, files, folders), `/proc` shows under the id of each.
/// The process's own id is the first thread's. Where that has left before the others, by
/// `pthread_exit`, nothing of it is to be had there any more.
enum FirstThread {
    /// Asks the first thread, and where that has nothing to answer with the others, one by one.
    ///
    /// - Parameter question: nil: the thread whose id is given has left, as far as that shows.
    static func orAnother<Answer>(of pid: Int32, _ question: (Int32) -> Answer?) -> Answer? {
        if let answer = question(pid) { return answer }
        for tid in ProcessFiles(pid: pid).threadIDs() where tid != pid {
            if let answer = question(tid) { return answer }
        }
        return nil
    }

    /// Whose folder in `/proc` tells of memory, files and folders; nil: the process gave up its
    /// memory.
    static func orHolder(of pid: Int32) -> Int32? {
        orAnother(of: pid) { ProcessFiles.hasMemory($0) ? $0 : nil }
    }
}

extension ReadBuffer {
    /// Reads a file that is empty of threads that have left.
    mutating func readAll(_ name: String, of pid: Int32, limit: Int = .max) {
        _ = FirstThread.orAnother(of: pid) { tid in
            readAll(path: "/proc/\(tid)/\(name)", limit: limit)
            return isEmpty ? nil : true
        }
    }
}
