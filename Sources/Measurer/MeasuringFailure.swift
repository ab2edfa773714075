/// Why measuring cannot continue. `message` is one line for the user: the problem, its place, its
/// reason, and the remedy.
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
