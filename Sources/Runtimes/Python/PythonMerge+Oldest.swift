package import ProfileModel

extension PythonMerge {
    /// A stack of which only the oldest of Python's frames are known.
    package struct Oldest: Hashable, Sendable {
        /// Innermost first.
        package var steps: [Step]
        /// Whether the stack shows that there were no newer ones.
        package var isWhole: Bool
    }

    /// The same as ``steps(_:isComplete:_:)`` where newer frames are missing, and some of these may have
    /// been others: they were seen before and after, and not in that moment.
    ///
    /// The oldest of the loop's native frames run these. Of the innermost one of them, what it keeps on
    /// the native stack tells which of its frames ran; what that has called is left out. Where it tells
    /// nothing, the outermost one is shown, and the native frame above it.
    ///
    /// - Parameter words: what lies in a stretch of the native stack.
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
        // Frames are called by where they are in the whole stack.
        let removed = newest.frames.count - shown.activations[0].frames.count
        steps = steps.map { step in
            if case .python(0, let frame) = step { .python(0, frame + removed) } else { step }
        }
        return Oldest(steps: steps, isWhole: current != nil && newer == nil)
    }

    /// Which native frame runs each activation.
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

/// What a native frame of the interpreter's loop keeps where it was stopped: where it is in the code that
/// it runs, and which frame that is.
package struct LoopWords {
    private let words: Set<UInt64>
    private let interpreter: PythonInterpreter

    /// - Parameter region: where it keeps them, up to where its caller's part of the stack begins.
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

    /// Of words; deep calls of C's have more.
    private static let most = 4096

    /// Whether it runs a frame: then it has the frame, and an instruction of its code.
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
    /// Where code's instructions are; nil: elsewhere than the code object (3.10 and older).
    fileprivate func start(of key: PythonCodeKey) -> UInt64? {
        guard case .inside(let start) = offsets.code.start else { return nil }
        return key.address.advanced(by: start)
    }
}
