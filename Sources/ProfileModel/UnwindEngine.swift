/// By what stacks are unwound. The raw values are words of `--unwinder`.
package enum UnwindEngine: String, Sendable, CaseIterable {
    /// Our own walks; libunwind where they end for want of a rule.
    case quick
    /// libunwind alone.
    case libunwind
}
