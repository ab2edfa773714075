/// The engine that unwinds stacks. The raw values are words of `--unwinder`.
package enum UnwindEngine: String, Sendable, CaseIterable {
    /// Our own unwinder, and libunwind for stacks that it cannot finish for lack of a rule.
    case quick
    /// libunwind alone.
    case libunwind
}
