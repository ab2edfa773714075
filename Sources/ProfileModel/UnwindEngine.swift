/// The engine that unwinds stacks. The raw values are words of `--unwinder`.
package enum UnwindEngine: String, Sendable, CaseIterable {
    /// Our own walks, and libunwind where they end for lack of a rule.
    case quick
    /// libunwind alone.
    case libunwind
}
