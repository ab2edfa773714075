/// A language's runtime that is asked to report where its functions are. This changes the program,
/// so it is done only on request.
package enum RequestedRuntime: String, CaseIterable, Sendable {
    case node
}
