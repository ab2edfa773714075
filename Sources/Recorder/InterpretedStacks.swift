import ProfileModel
import Runtimes
import Sampler
import Unwind

/// One process's stacks. The functions that an interpreter ran replace the interpreter's own
/// function that ran them.
///
/// A stack that could not be read consistently stays native, and is counted.
struct InterpretedStacks: ~Copyable {
    private let found: FoundInterpreter
    private let functions: RuntimeFunctions
    private let path: String
    private var codes: [PythonCodeKey: PythonCode] = [:]
    /// The names of modules that are being imported, by their addresses.
    private var modules: [UInt64: String] = [:]
    /// The frames made so far, by the calls that they represent. Most frames come again.
    private var frames: [Call: FrameAddress] = [:]

    private struct Call: Hashable {
        var key: PythonCodeKey
        var instruction: Int32
        var tracedLine: Int32?
    }

    init(_ found: FoundInterpreter, _ functions: RuntimeFunctions) {
        self.found = found
        self.functions = functions
        path = Module.runtimePath("Python \(found.interpreter.version.description)")
    }

    /// Adds names that the frames of later snapshots refer to.
    mutating func add(_ names: InterpretedNames) {
        if codes.count > Self.mostCodes { codes.removeAll(keepingCapacity: true) }
        for (key, code) in names.codes { codes[key] = code }
        modules = names.modules
    }

    /// The most codes that are remembered. The sampler, which names them, remembers as many.
    private static let mostCodes = 1 << 18

    /// A stack's frames, innermost first. nil: the stack stays as it is.
    ///
    /// - Parameters:
    ///   - native: the unwound snapshot.
    ///   - isLoop: true if a frame is in the interpreter's loop.
    mutating func frames(
        of snapshot: Snapshot, _ native: borrowing FrameBuffer, isComplete: Bool,
        isLoop: (FrameAddress) -> Bool
    ) -> [FrameAddress]? {
        defer { modules.removeAll(keepingCapacity: true) }
        guard let copy = snapshot.frames else {
            for index in 0..<native.count where isLoop(native[index]) {
                functions.unread += 1
                break
            }
            return nil
        }
        guard !copy.addresses.isEmpty else { return nil }
        // Where a signal's handler has a stack of its own, places are not known.
        guard snapshot.interrupted == nil, !found.interpreter.isTorn(copy) else {
            functions.unread += 1
            return nil
        }
        guard let stack = stack(copy, snapshot.stack),
            let steps = steps(snapshot, stack, native, isComplete: isComplete, isLoop)
        else {
            functions.unread += 1
            return nil
        }
        return PythonImports.steps(steps.map { Self.role(of: $0, stack) }).map { step in
            switch step {
            case .frame(let index): frame(steps[index], stack, native)
            case .importing(let index): importing(steps[index], "import ", stack, native)
            case .awaiting(let index):
                importing(steps[index], "waiting for import of ", stack, native)
            }
        }
    }

    private func stack(_ copy: RuntimeCopy, _ native: StackCopy) -> PythonStack? {
        PythonStack(copy, found.interpreter, stack: native) { codes[$0] }
    }

    private func steps(
        _ snapshot: Snapshot, _ stack: PythonStack, _ native: borrowing FrameBuffer,
        isComplete: Bool, _ isLoop: (FrameAddress) -> Bool
    ) -> [PythonMerge.Step]? {
        var all: [PythonMerge.NativeFrame] = []
        all.reserveCapacity(native.count)
        for index in 0..<native.count {
            let place = native.stackPointer(of: index)
            // libunwind does not report it.
            guard place != 0 else { return nil }
            all.append(
                PythonMerge.NativeFrame(stackPointer: place, isLoop: isLoop(native[index])))
        }
        guard let copy = snapshot.frames, copy.lacksNewest else {
            return PythonMerge.steps(all, isComplete: isComplete, stack)
        }
        guard found.interpreter.endsAtRoot(copy) else { return nil }
        let merged = PythonMerge.oldestSteps(all, isComplete: isComplete, stack) { region in
            LoopWords(snapshot, region, found.interpreter)
        }
        if merged?.isWhole == false { functions.partlyRead += 1 }
        return merged?.steps
    }

    private static func role(
        of step: PythonMerge.Step, _ stack: PythonStack
    ) -> PythonImports.Role {
        switch step {
        case .native: .native
        // Of unknown code we know only that it was called.
        case .python(let activation, let frame):
            stack.activations[activation].frames[frame].code?.role ?? .program
        }
    }

    // MARK: Frames

    private static let unknown = SourceFrame(
        function: "[unread function]", file: nil, line: nil, isInlined: false)
    private static let nowhere = FrameAddress(
        module: nil, address: CodeAddress(0, .instruction))

    private mutating func frame(
        _ step: PythonMerge.Step, _ stack: PythonStack, _ native: borrowing FrameBuffer
    ) -> FrameAddress {
        switch step {
        case .native(let index): native[index]
        case .python(let activation, let frame):
            self.frame(stack.activations[activation].frames[frame])
        }
    }

    private mutating func frame(_ python: PythonStack.Frame) -> FrameAddress {
        guard let code = python.code else {
            functions.unnamed += 1
            return functions.frame(of: Self.unknown, in: path) ?? Self.nowhere
        }
        let call = Call(
            key: python.key, instruction: python.instruction, tracedLine: python.tracedLine)
        if let known = frames[call] { return known }
        let frame = functions.frame(
            of: SourceFrame(
                function: RecordedText.bounded(code.qualifiedName),
                file: RecordedText.bounded(code.file),
                line: python.line.flatMap { $0 > 0 ? $0 : nil },
                isInlined: false), in: path)
        if frames.count >= Self.mostFrames { frames.removeAll(keepingCapacity: true) }
        frames[call] = frame
        return frame ?? Self.nowhere
    }

    private static let mostFrames = 1 << 18

    private mutating func importing(
        _ step: PythonMerge.Step, _ word: String, _ stack: PythonStack,
        _ native: borrowing FrameBuffer
    ) -> FrameAddress {
        guard case .python(let activation, let index) = step,
            let name = modules[stack.activations[activation].frames[index].firstLocal]
        else { return frame(step, stack, native) }
        return functions.frame(
            of: SourceFrame(
                function: word + RecordedText.bounded(name), file: ScriptPath.ofImports, line: nil,
                isInlined: false), in: path) ?? frame(step, stack, native)
    }

}
