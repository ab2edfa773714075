extension DiskQueue {
    /// The folder for payloads that cannot be sent to a server yet: each server has its own. It is
    /// below the user's folder for state, as the XDG base directories specify.
    ///
    /// - Parameter environment: gives the value of a variable.
    /// - Returns: nil: no variable gives a place for it.
    package static func folder(
        for address: WebAddress, environment: (String) -> String?
    ) -> String? {
        func path(_ name: String) -> String? {
            environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let state = path("XDG_STATE_HOME") ?? path("HOME").map { "\($0)/.local/state" }
        let host = address.host.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        let name = "\(host.prefix(100))-\(address.fingerprint)"
        return state.map { "\($0)/firstlight/otlp/\(name)" }
    }
}
