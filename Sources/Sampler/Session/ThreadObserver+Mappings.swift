import Agent
import ProcessIO
import ProfileModel

/// Passes on which code is mapped.
extension ThreadObserver {
    /// Passes the code that was mapped since the last call to the sink.
    mutating func watchMappings(at now: MonotonicTime, libraries: Int? = nil) {
        if let code = mappings.changes(at: now, libraries: libraries) {
            tell(code, at: now)
        } else if let found = interpreters.findAgain(at: now) {
            sink.receive(.interpreter(found))
        }
    }

    /// As ``watchMappings(at:)``, whether or not the sizes moved.
    mutating func rereadMappings(at now: MonotonicTime) {
        if let code = mappings.refreshed(at: now) { tell(code, at: now) }
    }

    private func tell(_ code: [CodeMapping], at now: MonotonicTime) {
        sink.receive(.mappings(code, now))
        if let found = interpreters.saw(code, at: now) { sink.receive(.interpreter(found)) }
    }

    /// A process was forked off another one.
    ///
    /// - Parameter isReported: whether later mappings are reported to us.
    mutating func copyMappings(
        of other: borrowing ThreadObserver, at now: MonotonicTime, isReported: Bool
    ) {
        mappings.copy(other.mappings, at: now, isReported: isReported)
        tell(mappings.code, at: now)
    }

    /// Code was mapped.
    mutating func mapped(_ newer: [CodeMapping], at now: MonotonicTime) {
        if mappings.map(newer, at: now) { tell(mappings.code, at: now) }
    }

    /// Adds the mappings of a process that was gone before they could be read.
    mutating func addMappings(_ known: [CodeMapping], at now: MonotonicTime) {
        if let code = mappings.add(known, at: now) { sink.receive(.mappings(code, now)) }
    }
}
