/// A language's runtime that is asked to say where its functions are. That changes the program, so it
/// is done on demand only.
package enum RequestedRuntime: String, CaseIterable, Sendable {
    case node
}
