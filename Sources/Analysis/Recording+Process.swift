package import ProfileModel

extension Recording {
    /// The part of the recording that belongs to one process.
    ///
    /// - Parameter wanted: its id, or its name, in any case; if several processes have the name, an
    ///   id is needed. The kernel reuses ids: the last process with the id is meant.
    package func process(named wanted: String) throws(SelectionError) -> Recording {
        if let pid = Int32(wanted) {
            let last = children.lastIndex { $0.pid == pid }
            if let found = last.flatMap({ only(ChildIndex($0)) }) { return found }
            if header.pid == pid { return withoutChildren }
        }
        let own = images.last.map { String($0.name) } ?? ""
        let folded = wanted.lowercased()
        let matching = children.indices.filter { children[$0].name.lowercased() == folded }
        let isFirst = own.lowercased() == folded
        guard matching.count + (isFirst ? 1 : 0) <= 1 else {
            let pids = (isFirst ? [header.pid] : []) + matching.map { children[$0].pid }
            throw .ambiguousProcess(wanted, pids: pids.map(String.init))
        }
        if isFirst { return withoutChildren }
        if let found = matching.first.flatMap({ only(ChildIndex($0)) }) { return found }
        let known = children.map { "\($0.pid) \($0.name)" }
        throw .unknownProcess(wanted, known: ["\(header.pid) \(own)"] + known)
    }
}
