/// `/proc` shows what all threads of a process share (memory, files, folders) under each thread's
/// id. The process's own id is that of its first thread. If the first thread has ended before the
/// others (by `pthread_exit`), nothing can be read under that id any more.
package enum FirstThread {
    /// Asks the first thread. If it has no answer, asks the other threads one by one.
    ///
    /// - Parameter question: nil: the thread with the given id seems to have ended.
    package static func orAnother<Answer>(of pid: Int32, _ question: (Int32) -> Answer?) -> Answer?
    {
        if let answer = question(pid) { return answer }
        for tid in ProcessFiles(pid: pid).threadIDs() where tid != pid {
            if let answer = question(tid) { return answer }
        }
        return nil
    }

    /// The thread under whose id `/proc` shows memory, files and folders; nil: the process has no
    /// memory any more.
    package static func orHolder(of pid: Int32) -> Int32? {
        orAnother(of: pid) { ProcessFiles.hasMemory($0) ? $0 : nil }
    }
}

extension ReadBuffer {
    /// Reads a file that is empty for threads that have ended.
    package mutating func readAll(_ name: String, of pid: Int32, limit: Int = .max) {
        _ = FirstThread.orAnother(of: pid) { tid in
            readAll(path: "/proc/\(tid)/\(name)", limit: limit)
            return isEmpty ? nil : true
        }
    }
}
