import Architecture
package import ProfileModel

/// A function as a reader knows it; call trees merge by it.
package struct Function: Hashable, Sendable {
    /// Demangled; `module+0xoffset` without a symbol, `0xaddress` without a module. Never empty.
    package var name: String
    /// The last component of the module's path; a bracketed word where there is none.
    package var module: String
    /// nil for frames without a module and for those that analysis invents.
    package var moduleIndex: ModuleIndex?
    /// Whether it belongs to the program's developer rather than to the system.
    package var isOwn: Bool
    /// nil: not known, or this is no code.
    package var language: Language?
    /// Distinguishes functions without names; nil: the name suffices.
    package var line: Int32?

    package init(
        name: String, module: String, moduleIndex: ModuleIndex?, isOwn: Bool,
        language: Language? = nil, line: Int32? = nil
    ) {
        self.language = language
        self.line = line
        self.name = name
        self.module = module
        self.moduleIndex = moduleIndex
        self.isOwn = isOwn
    }

    /// Stands for code that is in no known module.
    package static let unknownModule = "[unknown]"
    /// The module of the kernel's own code, and of the frames that name a wait.
    package static let kernelModule = Module.kernelPath
    /// Whether it is a function of the kernel or of a kernel module.
    package var isKernel: Bool { Module.isKernel(module) && !name.hasPrefix("[") }

    /// Whether it represents the import of a module.
    package var isImport: Bool { module == ScriptPath.ofImports }

    package var isScripted: Bool { language?.isScripted ?? false }

    /// `script.py:12`; nil for a function that is not from a script.
    ///
    /// - Parameter line: nil: not known, or it does not matter.
    package func scriptPlace(line: Int32?) -> String? {
        guard isScripted, !isImport else { return nil }
        return line.map { "\(module):\($0)" } ?? module
    }

    private static func invented(_ name: String, module: String = unknownModule) -> Function {
        Function(name: name, module: module, moduleIndex: nil, isOwn: false)
    }

    /// Time whose stack could not be taken, or from before `exec`.
    package static let noStack = invented("[no stack]")
    /// CPU time of a thread that was not sampled, because a sample might have ended one of its
    /// calls early.
    package static let notSampled = invented("[not sampled]")
    /// Whether it only stands for a missing stack.
    package var isNoStack: Bool { self == .noStack || self == .notSampled }
    /// The root of stacks that do not reach their thread's entry function. The next frame is the
    /// outermost one that was found, not a root of its own.
    package static let truncated = invented("[truncated]")
    /// The root of initialisers that no sample shows: they were timed, but their caller is not
    /// known.
    static let timedInitializers = invented("[timed initialisers]")

    /// The reason for a thread's wait, as the innermost frame of blocked time.
    ///
    /// - Parameter systemCall: as in ``Slice/systemCall``. nil: the thread was blocked for a part
    ///   of the slice and ran again at its end, so the call is not known.
    package static func wait(in systemCall: Int32?) -> Function {
        let name =
            switch systemCall {
            case nil: "[blocked]"
            case .some(let number): "[\(callName(number))]"
            }
        return invented(name, module: kernelModule)
    }

    /// The same where more than the call is known: `[lock: mutex queue]`, `[sleep]`.
    static func wait(for reason: WaitReason, in systemCall: Int32) -> Function {
        let detail = reason.detail
        // For this kind, the detail is the call's own name.
        if reason.kind == .other {
            return detail.map { invented("[\($0)]", module: kernelModule) } ?? wait(in: systemCall)
        }
        let name = reason.kind.rawValue + (detail.map { ": \($0)" } ?? "")
        return invented("[\(name)]", module: kernelModule)
    }

    /// No kernel has more system calls.
    private static let mostCalls: Int32 = 4096

    /// `futex`; -1 is outside of any call.
    static func callName(_ systemCall: Int32) -> String {
        guard systemCall >= 0 else { return "blocked outside a system call" }
        if let number = SystemCall.narrowNumber(systemCall), number < mostCalls {
            return "32-bit system call \(number)"
        }
        return SystemCall(rawValue: systemCall)?.name ?? "system call \(systemCall)"
    }
}

/// Position in a ``FrameTable``'s list of functions.
package struct FunctionID: Hashable, Sendable {
    package var rawValue: Int32
    package init(_ rawValue: Int32) { self.rawValue = rawValue }
}
