import Glibc
import ProfileModel

/// Shared memory that one of the program's own threads makes for us.
extension TraceSession {
    enum SetupFailure: Error {
        case obstacle(RecorderNote.Kind)
        /// The thread is gone, or the program.
        case gone
    }

    func attempt<Value>(
        _ body: () throws(SystemError) -> Value
    ) throws(SetupFailure) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .gone
        }
    }

    /// Leads a stopped thread to the agent's making of a mapping, and stops it when it waits for
    /// us there. It goes back by itself when nobody accepts the mapping.
    ///
    /// - Parameter prepare: fills in what to make, and says where that begins.
    func letMap(
        _ thread: TracedThread, _ agent: Agent,
        _ prepare: () throws(SystemError) -> UInt64
    ) throws(SetupFailure) -> (descriptor: Int32, address: UInt64) {
        let entry = try attempt(prepare)
        try attempt { () throws(SystemError) in _ = try thread.tracee.divert(to: entry) }
        // Bounded: it waits for some twenty milliseconds.
        for _ in 0..<64 {
            try attempt { () throws(SystemError) in try thread.tracee.resume() }
            waitForCore(thread)
            guard stopNow(thread) != nil,
                let registers = try? thread.tracee.registers()
            else { throw .gone }
            if agent.waitingRange.contains(registers.programCounter) {
                return (
                    Int32(truncatingIfNeeded: registers[Agent.descriptorRegister] ?? 0),
                    registers[Agent.addressRegister] ?? 0
                )
            }
            // Nothing comes in between: it is back without having waited, a call has failed.
            guard agent.range.contains(registers.programCounter) else { break }
        }
        throw .obstacle(.unmapped)
    }
}
