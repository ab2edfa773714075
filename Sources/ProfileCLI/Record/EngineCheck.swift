import ProfileModel
import Unwind

extension UnwindEngine {
    /// True if the engine's library is installed. Otherwise complains and names the library.
    func isUsable(_ console: Console) -> Bool {
        guard let library = missingLibrary else { return true }
        console.complain(
            "--unwinder \(rawValue) needs \(library), which cannot be loaded "
                + "(Debian's package: libunwind8)")
        return false
    }
}
