package import ProfileModel

extension PythonInterpreter {
    /// True if our assumptions about the interpreter hold for its threads' frames: their code
    /// pointers lead to code objects. nil: no thread has a frame yet, or all run too fast to be
    /// read. A running thread may look wrong once, so a no needs several tries.
    package func check(_ memory: any RuntimeMemory) -> Bool? {
        var answer: Bool?
        for _ in 0..<Self.tries {
            for thread in threads(memory).suffix(Self.checkedThreads) {
                switch check(thread, memory) {
                case true?: return true
                case false?: answer = false
                case nil: break
                }
            }
        }
        return answer
    }

    private static var tries: Int { 8 }
    /// The oldest threads, which come last.
    private static var checkedThreads: Int { 16 }

    /// For a running thread, the oldest frame serves as well as the newest of a stopped one.
    private func check(_ thread: PythonThread, _ memory: any RuntimeMemory) -> Bool? {
        let reader = FrameListReader(layout)
        guard let copy = reader.readRunning(thread: thread.state, memory) else { return nil }
        let frames = copy.addresses.indices.compactMap { copy.record($0, layout) }
            .filter { !isShim($0) }
        guard let oldest = frames.last else { return copy.rest == 0 ? nil : false }
        return oldest.code.flatMap { memory.word(at: $0.advanced(by: offsets.object.type)) }
            == codeType
    }

    /// True if a list that was read while its thread ran ends where lists end. A generator's frame
    /// has no caller while it does not run, so the frame of a generator that has just yielded looks
    /// like the end.
    package func endsAtRoot(_ copy: RuntimeCopy) -> Bool {
        guard copy.rest == 0, let oldest = copy.record(copy.addresses.count - 1, layout) else {
            return false
        }
        if case .shim = offsets.frame.grouping { return isShim(oldest) }
        return !offsets.frame.isOfGenerator(oldest)
    }

    /// True if a list that its own thread has copied lacks the older frames: it does not end with a
    /// frame that only marks an end, although this release has such frames. A generator that yields
    /// just then has lost its caller, and is still the newest frame.
    package func isTorn(_ copy: RuntimeCopy) -> Bool {
        guard case .shim = offsets.frame.grouping, copy.rest == 0,
            let oldest = copy.record(copy.addresses.count - 1, layout)
        else { return false }
        return !isShim(oldest)
    }

    /// True if a frame only marks where the frames of a native frame end.
    func isShim(_ frame: FrameRecord) -> Bool {
        guard case .shim(let least) = offsets.frame.grouping, let place = offsets.frame.owner,
            let owner = frame.byte(place)
        else { return false }
        return owner >= least
    }
}
