import ProfileModel

/// The layout that CPython 3.13 and later describe for debuggers: `_Py_DebugOffsets`, at the
/// beginning of `_PyRuntime`, words of 8 bytes.
struct PythonDebugOffsets {
    private let bytes: [UInt8]
    private let minor: Int

    /// nil: it is missing, or belongs to a build without the global lock, whose objects differ.
    init?(at address: UInt64, version: PythonVersion, number: UInt64, _ memory: any RuntimeMemory) {
        guard let size = Self.size(version.minor),
            let bytes = memory.bytes(at: address, count: size),
            bytes.starts(with: Array("xdebugpy".utf8)), bytes.word(at: 8) == number,
            bytes.word(at: 16) == 0
        else { return nil }
        (self.bytes, minor) = (bytes, version.minor)
    }

    /// nil: we know no such table for this release.
    static func size(_ minor: Int) -> Int? {
        switch minor {
        case 13: 584
        case 14: 760
        default: nil
        }
    }

    /// The table's layout, corrected by the process's own values; nil: these values are impossible.
    func corrected(_ table: PythonLayout) -> PythonLayout? {
        let places = minor == 13 ? Places.thirteen : Places.fourteen
        var layout = table
        guard correct(&layout.runtime, &layout.thread, places),
            correct(&layout.frame, &layout.frames, places), correct(&layout.code, places),
            correct(&layout.object, places), correctIdentity(&layout)
        else { return nil }
        if case .inside(let start) = layout.code.start { layout.codeSize = start }
        return layout.frames.isSane ? layout : nil
    }

    private func correct(
        _ runtime: inout PythonLayout.Runtime, _ thread: inout PythonLayout.Thread, _ places: Places
    ) -> Bool {
        guard let head = offset(40, below: 1 << 20),
            let next = offset(64, below: 1 << 20), let threads = offset(72, below: 1 << 20),
            let follower = offset(places.thread + 16), let owner = offset(places.thread + 24),
            let pthread = offset(places.thread + 40)
        else { return false }
        // The main interpreter and the number of the next one are in between.
        runtime = .init(
            interpreters: head, mainThread: head + 24, nextInterpreter: next, threads: threads)
        thread = .init(next: follower, interpreter: owner, pthread: pthread)
        return true
    }

    private func correct(
        _ frame: inout PythonLayout.Frame, _ list: inout FrameListLayout, _ places: Places
    ) -> Bool {
        guard let newest = offset(places.thread + 32), let kernelID = offset(places.thread + 48),
            let chunk = offset(places.thread + 56), let caller = offset(places.frame + 8),
            let code = offset(places.frame + 16), let instruction = offset(places.frame + 24),
            let locals = offset(places.frame + 32, below: 256),
            let owner = offset(places.frame + 40, below: 256, alignment: 1),
            max(caller, code, instruction, owner) < locals, frame.globals < locals
        else { return false }
        (list.newest, list.threadID, list.caller, list.code) = (newest, kernelID, caller, code)
        list.arena = (chunk, chunk + 8)
        list.record = [.init(0, locals + 8)]
        frame.instruction = .address(instruction)
        (frame.firstLocal, frame.owner) = (locals, owner)
        return true
    }

    private func correct(_ code: inout PythonLayout.Code, _ places: Places) -> Bool {
        guard let file = offset(places.code + 8), let name = offset(places.code + 16),
            let qualifiedName = offset(places.code + 24), let table = offset(places.code + 32),
            let firstLine = offset(places.code + 40, alignment: 4),
            let start = offset(places.code + 72), start >= 32
        else { return false }
        (code.file, code.name, code.qualifiedName, code.table) = (file, name, qualifiedName, table)
        (code.firstLine, code.start) = (firstLine, .inside(start))
        // The table does not contain this one. Since 3.11 it has been this far before the
        // instructions.
        code.firstTraceable = start - 16
        return true
    }

    private func correct(_ object: inout PythonLayout.Object, _ places: Places) -> Bool {
        guard let type = offset(places.type), let size = offset(places.bytes + 8),
            let bytes = offset(places.bytes + 16),
            let state = offset(places.text + 8, alignment: 4),
            let length = offset(places.text + 16), let ascii = offset(places.text + 24)
        else { return false }
        object = .init(
            type: type, size: size, bytes: bytes, length: length, state: state, ascii: ascii,
            compact: ascii + 16)
        return true
    }

    /// The four pointers that distinguish code objects are side by side.
    private func correctIdentity(_ layout: inout PythonLayout) -> Bool {
        let code = layout.code
        let pointers = [code.file, code.name, code.qualifiedName ?? code.name, code.table]
        guard let first = pointers.min(), let last = pointers.max(), last - first == 24 else {
            return false
        }
        layout.frames.identity = .init(first, 32)
        return true
    }

    private func offset(_ place: Int, below end: UInt64 = 4096, alignment: UInt64 = 8) -> Int? {
        bytes.word(at: place).flatMap { $0 < end && $0 % alignment == 0 ? Int($0) : nil }
    }

    /// Where each structure's group begins: first its size, then its fields in this order.
    private struct Places {
        var thread: Int
        var frame: Int
        var code: Int
        /// For an object's type: the offset of the field itself.
        var type: Int
        var bytes: Int
        var text: Int

        static let thirteen = Places(
            thread: 152, frame: 224, code: 272, type: 360, bytes: 512, text: 536)
        static let fourteen = Places(
            thread: 176, frame: 248, code: 312, type: 408, bytes: 592, text: 616)
    }
}
