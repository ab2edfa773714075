extension Profile {
    /// The function of a stack to look at first: the innermost of the developer's own. If there is
    /// none: the innermost with a name outside of the kernel, the C library and the dynamic linker;
    /// else one without a name there; else the innermost of the program's side at all.
    ///
    /// - Parameter stack: outermost first.
    /// - Returns: nil: the stack is empty.
    package func place(in stack: [FrameID]) -> FrameID? {
        func innermost(_ isWanted: (Function) -> Bool) -> FrameID? {
            stack.last { isWanted(frames.function(of: $0)) }
        }
        return innermost(\.isOwn) ?? innermost { !$0.isCommon && !$0.isUnnamed }
            ?? innermost { !$0.isCommon } ?? innermost { !$0.isKernel } ?? stack.last
    }
}

extension Function {
    /// Whether it belongs to what every program calls, or to the kernel, so that it says little.
    fileprivate var isCommon: Bool {
        let prefixes = ["libc.", "libc-", "libpthread", "libdl", "ld-linux", "ld-musl", "ld."]
        return isKernel || moduleIndex == nil
            || prefixes.contains { module.hasPrefix($0) }
            || Self.entries.contains(name)
    }

    /// Where programs begin: to name one of them is to name none.
    private static let entries: Set<String> = ["_start", "__libc_start_main", "main"]
}
