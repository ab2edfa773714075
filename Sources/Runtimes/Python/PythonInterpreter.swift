package import ProfileModel

/// A running CPython interpreter, as found in a process: releases 3.8 to 3.14, for x86-64.
package struct PythonInterpreter: Hashable, Sendable {
    package var version: PythonVersion
    /// The address of `_PyRuntime` in the process.
    package var runtime: UInt64
    /// The addresses of the types of code objects and of texts: each object points to its type.
    package var codeType: UInt64
    package var textType: UInt64
    package var offsets: PythonLayout

    /// The layout for copying frames when a sample is taken.
    package var layout: FrameListLayout { offsets.frames }

    /// The function that runs Python code: each of its native frames runs the frames of one
    /// activation.
    package static let loop = "_PyEval_EvalFrameDefault"

    /// All symbols that are looked up.
    package static let symbols = [
        "_PyRuntime", "PyCode_Type", "PyUnicode_Type", "PyFrame_Type", "Py_Version",
        "_Py_NegativeRefcount", loop,
    ]

    /// nil: there is no interpreter, its release or build is unknown here, or its description of
    /// itself does not fit.
    ///
    /// - Parameters:
    ///   - path: the path of the mapped file.
    ///   - symbol: gives the process's address of an exported symbol; nil: there is none.
    package init?(
        path: String, symbol: (String) -> UInt64?, memory: any RuntimeMemory
    ) {
        guard let runtime = symbol("_PyRuntime"), let codeType = symbol("PyCode_Type"),
            let textType = symbol("PyUnicode_Type"),
            // Only debug builds count references in this way.
            symbol("_Py_NegativeRefcount") == nil,
            let found = Self.version(path: path, symbol: symbol, memory),
            let offsets = Self.offsets(found.version, found.number, runtime: runtime, memory)
        else { return nil }
        (self.runtime, self.codeType, self.textType) = (runtime, codeType, textType)
        (self.offsets, version) = (offsets, found.version)
        guard Self.objectSize(of: codeType, memory) == UInt64(offsets.codeSize) else { return nil }
        if let size = offsets.frameSize {
            guard let frameType = symbol("PyFrame_Type"),
                Self.objectSize(of: frameType, memory) == UInt64(size)
            else { return nil }
        }
    }

    /// True if a mapped file may be an interpreter, judging by its path, before it is opened.
    package static func mayBe(path: String) -> Bool {
        if let version = PythonVersion(path: path) { return 8...14 ~= version.minor }
        return ["", "3"].contains(PythonVersion.rest(ofName: path))
    }

    private static func version(
        path: String, symbol: (String) -> UInt64?, _ memory: any RuntimeMemory
    ) -> (version: PythonVersion, number: UInt64)? {
        if let place = symbol("Py_Version") {
            guard let number = memory.word(at: place).map({ $0 & UInt64(UInt32.max) }),
                let version = PythonVersion(number: number), version.major == 3,
                version.minor >= 11
            else { return nil }
            return (version, number)
        }
        guard let version = PythonVersion(path: path), version.minor < 11 else { return nil }
        return (version, 0)
    }

    private static func offsets(
        _ version: PythonVersion, _ number: UInt64, runtime: UInt64, _ memory: any RuntimeMemory
    ) -> PythonLayout? {
        guard let table = PythonLayout.of(minor: version.minor) else { return nil }
        guard version.minor >= 13 else { return table }
        return PythonDebugOffsets(at: runtime, version: version, number: number, memory)?
            .corrected(table)
    }

    /// The size of objects according to their type: a constant in the file, correct before any code
    /// runs.
    private static func objectSize(of type: UInt64, _ memory: any RuntimeMemory) -> UInt64? {
        memory.word(at: type.advanced(by: 32))
    }
}

extension PythonInterpreter {
    /// A copied frame's code and first parameter.
    package struct CopiedFrame: Hashable, Sendable {
        /// The index in the copy, which has the newest first.
        package var index: Int
        package var key: PythonCodeKey
        /// A pointer to an object; 0: there is none.
        package var firstLocal: UInt64
    }

    /// The frames of a copy whose codes were copied, too, newest first. Frames that only mark where
    /// those of a native frame end are left out.
    ///
    /// - Parameter oldest: how many frames at the end are left out.
    package func frames(of copy: RuntimeCopy, without oldest: Int = 0) -> [CopiedFrame] {
        let size = layout.identity.size
        let count = min(copy.completeCount(layout), copy.addresses.count - max(0, oldest))
        return (0..<max(0, count)).compactMap { index in
            guard let record = copy.record(index, layout), !isShim(record),
                let code = record.code
            else { return nil }
            return CopiedFrame(
                index: index,
                key: PythonCodeKey(
                    address: code,
                    identity: copy.identities[index * size..<(index + 1) * size]),
                firstLocal: (record.word(offsets.frame.firstLocal) ?? 0) & offsets.localMask)
        }
    }
}

extension PythonCode {
    /// True if it is importlib's function whose first local variable names a module that is being
    /// imported or waited for.
    package var namesImport: Bool {
        role == .begin || role == .wait
    }
}

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
