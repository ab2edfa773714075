/// The names of Linux's signals by number, see signal(7).
package enum SignalNames {
    private static let names = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
        "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ]

    /// "SIGSEGV"; nil for those without a name.
    package static func name(of signal: Int32) -> String? {
        guard signal >= 1, signal <= names.count else { return nil }
        return "SIG\(names[Int(signal) - 1])"
    }
}
