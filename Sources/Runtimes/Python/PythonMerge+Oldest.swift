import Architecture
package import ProfileModel

extension PythonMerge {
    /// A stack for which only the oldest Python frames are known.
    package struct Oldest: Hashable, Sendable {
        /// Innermost first.
        package var steps: [Step]
        /// True if the stack shows that there were no newer frames.
        package var isWhole: Bool
    }

    /// As ``steps(_:isComplete:_:)``, but newer frames are missing, and some of the known frames
    /// may have changed: we have seen them before and after, but not at that moment.
    ///
    /// The oldest native frames of the loop run these frames. Words that the innermost of them
    /// keeps on the native stack tell which of its frames ran. Frames called by that frame are left
    /// out. If the words tell nothing, the outermost frame is shown, and the native frame above it.
    ///
    /// - Parameter words: gives the words in a range of the native stack.
    package static func oldestSteps(
        _ native: [NativeFrame], isComplete: Bool, _ stack: PythonStack,
        words: (Range<UInt64>) -> LoopWords
    ) -> Oldest? {
        guard isComplete, !stack.isCut, let newest = stack.activations.first,
            let homes = oldestHomes(native, stack), let home = homes.first
        else { return nil }
        let newer = native[..<home].lastIndex(where: \.isLoop)
        let start = newer.map { native[$0 + 1].stackPointer } ?? native[0].stackPointer
        let end = home + 1 < native.count ? native[home + 1].stackPointer : start
        guard start <= end else { return nil }
        let words = words(start..<end)
        let current = newest.frames.firstIndex(where: words.isRun)
        var shown = stack
        shown.activations[0].frames.removeFirst(
            current ?? max(0, newest.frames.count - 1))
        var steps = joined((homes, 0..<0), native.count, shown)
        if current == nil, let place = steps.firstIndex(of: .python(0, 0)) {
            steps.insert(.native(home), at: place)
        }
        // Frames are numbered by their position in the whole stack.
        let removed = newest.frames.count - shown.activations[0].frames.count
        steps = steps.map { step in
            if case .python(0, let frame) = step { .python(0, frame + removed) } else { step }
        }
        return Oldest(steps: steps, isWhole: current != nil && newer == nil)
    }

    /// The native frame that runs each activation.
    private static func oldestHomes(_ native: [NativeFrame], _ stack: PythonStack) -> [Int]? {
        if stack.activations.allSatisfy({ $0.place != nil }) {
            guard let placed = placed(native, isComplete: true, stack), placed.followers.isEmpty
            else { return nil }
            return placed.native
        }
        let loops = native.indices.filter { native[$0].isLoop }
        guard loops.count >= stack.activations.count else { return nil }
        return Array(loops.suffix(stack.activations.count))
    }
}

/// The words that a native frame of the interpreter's loop keeps where it was stopped: among them
/// its place in the code that it runs, and the address of its Python frame.
package struct LoopWords {
    private let words: Set<UInt64>
    private let interpreter: PythonInterpreter

    /// - Parameter region: where the frame keeps them, up to the start of its caller's part of the
    ///   stack.
    package init(
        _ snapshot: Snapshot, _ region: Range<UInt64>, _ interpreter: PythonInterpreter
    ) {
        self.interpreter = interpreter
        var words: Set<UInt64> = []
        let stack = snapshot.stack
        var place = max(region.lowerBound, stack.start) & ~7
        while place < region.upperBound, words.count < Self.most {
            if place >= stack.start, let word = stack.bytes.word(at: Int(place - stack.start)) {
                words.insert(word)
            } else if place >= stack.start {
                break
            }
            place += 8
        }
        if region.contains(snapshot.registers.stackPointer) {
            for number in 0..<Registers.count {
                if let word = snapshot.registers[number] { words.insert(word) }
            }
        }
        self.words = words
    }

    /// In words; deep calls in C have more.
    private static let most = 4096

    /// True if it runs the frame: then it keeps the frame's address, and that of an instruction in
    /// its code.
    package func isRun(_ frame: PythonStack.Frame) -> Bool {
        guard words.contains(frame.address) else { return false }
        guard let start = interpreter.start(of: frame.key), let code = frame.code else {
            return interpreter.version.minor < 11
        }
        let end = start &+ UInt64(max(0, code.length))
        return words.contains { start <= $0 && $0 < end }
    }
}

extension PythonInterpreter {
    /// Where the instructions of a code object are; nil: outside the object (3.10 and older).
    fileprivate func start(of key: PythonCodeKey) -> UInt64? {
        guard case .inside(let start) = offsets.code.start else { return nil }
        return key.address.advanced(by: start)
    }
}
