/// Why measuring cannot continue. `message` is one line for the user: what, where, why, and what to
/// do.
package struct MeasuringFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package var message: String
    /// The exit status of firstlight.
    package var status: Int32

    package init(_ message: String, status: Int32) {
        self.message = message
        self.status = status
    }

    package var description: String { message }
}
