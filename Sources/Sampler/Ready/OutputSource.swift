import CSystem
import Glibc
import ProfileModel

/// `output`: the first byte, or line with a text, that the program writes to standard output or
/// error.
final class OutputSource: ReadySource {
    let relays: [OutputRelay]
    private var found: MonotonicTime?

    /// Puts a relay in front of both streams, or one in front of both where they are the same: so
    /// what is written to them stays in order.
    ///
    /// - Parameter setting: where it leads may be a relay already, for another text.
    init(text: String?, setting: inout ProgramSetting) throws(SystemError) {
        var relays: [OutputRelay] = []
        let output = setting.output ?? STDOUT_FILENO
        let error = setting.error ?? STDERR_FILENO
        let isOneStream = fl_same_stream(output, error) == 1
        if fcntl(output, F_GETFD) >= 0 {
            var input: Int32 = -1
            relays.append(try OutputRelay(to: output, for: text ?? "", input: &input))
            setting.replaceStreams(by: input, output: true, error: isOneStream)
        }
        if !isOneStream, fcntl(error, F_GETFD) >= 0 {
            var input: Int32 = -1
            relays.append(try OutputRelay(to: error, for: text ?? "", input: &input))
            setting.replaceStreams(by: input, output: false, error: true)
        }
        self.relays = relays
    }

    func look(at now: MonotonicTime, in session: TraceSession) -> MonotonicTime? {
        for relay in relays {
            // A relay that ended has nothing to tell any more.
            guard case .found(let time)? = (try? relay.news()) ?? nil else { continue }
            take(time)
        }
        return found
    }

    func lastLook(_ signals: SignalQueue) -> MonotonicTime? {
        for relay in relays { relay.drain(signals).map(take) }
        return found
    }

    private func take(_ time: MonotonicTime) { found = min(found ?? time, time) }
}
