import ProfileModel
import Unwind

extension UnwindEngine {
    /// Whether what it needs is installed. Says what is missing.
    func isUsable(_ console: Console) -> Bool {
        guard let library = missingLibrary else { return true }
        console.complain(
            "--unwinder \(rawValue) needs \(library), which cannot be loaded "
                + "(Debian's package: libunwind8)")
        return false
    }
}
