/// One function at one place in the source.
package struct Frame: Hashable, Sendable {
    package var function: FunctionID
    /// The path in the debug information; nil without one.
    package var file: String?
    /// 1-based; nil without line information.
    package var line: Int32?
    /// Whether the compiler inlined the function into the next frame outward.
    package var isInlined: Bool
    /// Whether its unit is known to be unoptimised.
    package var isUnoptimized: Bool

    package init(
        function: FunctionID, file: String? = nil, line: Int32? = nil, isInlined: Bool = false,
        isUnoptimized: Bool = false
    ) {
        self.function = function
        self.file = file
        self.line = line
        self.isInlined = isInlined
        self.isUnoptimized = isUnoptimized
    }
}

/// Position in a ``FrameTable``'s list of frames.
package struct FrameID: Hashable, Sendable {
    package var rawValue: Int32
    package init(_ rawValue: Int32) { self.rawValue = rawValue }
}
