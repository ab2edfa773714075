import Analysis
import Glibc
import Recording

extension Reading {
    /// Why there was nothing to print; one line.
    struct Failure: Error {
        var message: String

        init(_ error: RecordingError) {
            message = error.description
            if case .cannotOpen(RecordOptions.defaultOutput, ENOENT) = error {
                message += "; make it with 'firstlight record', or name another file"
            }
        }

        init(_ message: String) { self.message = message }

        init(_ error: SelectionError) { message = error.description }
    }
}
