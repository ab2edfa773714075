import Architecture
package import ProfileModel

/// A function as a reader knows it: what call trees merge by.
package struct Function: Hashable, Sendable {
    /// Demangled; `module+0xoffset` without a symbol, `0xaddress` without a module. Never empty.
    package var name: String
    /// The last component of the module's path; a bracketed word where there is none.
    package var module: String
    /// nil for frames without a module and for those that analysis invents.
    package var moduleIndex: ModuleIndex?
    /// Whether it belongs to the program's developer rather than to the system.
    package var isOwn: Bool
    /// nil: it is not known, or this is no code.
    package var language: Language?
    /// Tells functions without names apart; nil: the name will do.
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

    /// Stands for code that lies in no known module.
    package static let unknownModule = "[unknown]"
    /// The kernel's own code, and what stands for it in the frames that name a wait.
    package static let kernelModule = Module.kernelPath
    /// Whether it is a function of the kernel's, or of a module of its.
    package var isKernel: Bool { Module.isKernel(module) && !name.hasPrefix("[") }

    /// Whether it stands for the import of a module.
    package var isImport: Bool { module == ScriptPath.ofImports }

    package var isScripted: Bool { language?.isScripted ?? false }

    /// `script.py:12`; nil for what is not written in a script.
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
    /// CPU time of a thread that was not looked at, for fear of ending one of its calls early.
    package static let notSampled = invented("[not sampled]")
    /// Whether it only stands for the want of a stack.
    package var isNoStack: Bool { self == .noStack || self == .notSampled }
    /// The root of stacks that do not reach their thread's entry function. What follows it is the
    /// outermost frame that was found, not a root of its own.
    package static let truncated = invented("[truncated]")
    /// Root of initialisers that no look fell into: they are timed, and who called them was not seen.
    static let timedInitializers = invented("[timed initialisers]")

    /// What a thread waited for, as the innermost frame of blocked time.
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

    /// The same where more is known than the call: `[lock: mutex queue]`, `[sleep]`.
    static func wait(for reason: WaitReason, in systemCall: Int32) -> Function {
        let detail = reason.detail
        // A call's own name is its detail there.
        if reason.kind == .other {
            return detail.map { invented("[\($0)]", module: kernelModule) } ?? wait(in: systemCall)
        }
        let name = reason.kind.rawValue + (detail.map { ": \($0)" } ?? "")
        return invented("[\(name)]", module: kernelModule)
    }

    /// No kernel has more.
    private static let mostCalls: Int32 = 4096

    /// `futex`; -1 is outside of any.
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
