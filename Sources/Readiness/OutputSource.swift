import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// `output`: the first byte, or the first line with a given text, that the program writes to
/// standard output or error.
package final class OutputSource: ReadySource {
    package private(set) var relays: [OutputRelay] = []
    private var files: [OutputFile] = []
    private let text: String
    private var found: MonotonicTime?

    /// Watches both streams. If both are the same stream, it is watched once, which keeps the
    /// output in order.
    ///
    /// - Parameter setting: its streams may lead to a relay already, for another text.
    package init(text: String?, setting: inout ProgramSetting) throws(SystemError) {
        self.text = text ?? ""
        let (output, error) = (setting.currentOutput, setting.currentError)
        let isOneStream = fl_same_stream(output, error) == 1
        try watch(output, isOutput: true, isError: isOneStream, &setting)
        if !isOneStream { try watch(error, isOutput: false, isError: true, &setting) }
    }

    private func watch(
        _ stream: Int32, isOutput: Bool, isError: Bool, _ setting: inout ProgramSetting
    ) throws(SystemError) {
        // No program checks a file that only we have, and a relay reports the exact moment.
        let kind = setting.isGiven(stream) ? fl_stream_relayed : Int(fl_stream_kind(stream))
        switch kind {
        case fl_stream_relayed:
            var input: Int32 = -1
            relays.append(try OutputRelay(to: stream, for: text, input: &input))
            setting.replaceStreams(by: input, output: isOutput, error: isError)
        case fl_stream_file: files.append(try OutputFile(stream, for: text))
        case fl_stream_other:
            let name = isOutput ? "output" : "error"
            throw SystemError("watching a device that is standard \(name)", code: EOPNOTSUPP)
        default: break
        }
    }

    package func began(_ pid: Int32) {
        for relay in relays { relay.announceNews() }
        for file in files { file.began(pid) }
    }

    package func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        for relay in relays {
            // A relay that has ended has no more news.
            guard case .found(let time)? = (try? relay.news()) ?? nil else { continue }
            take(time)
        }
        if found == nil, files.contains(where: { $0.look(at: now) }) { take(now) }
        return found
    }

    package func lastLook(_ signals: SignalQueue) -> MonotonicTime? {
        for relay in relays { relay.drain(signals).map(take) }
        if found == nil, files.contains(where: { $0.lookThrough() }) { take(.now) }
        return found
    }

    package var needsLooks: Bool { !files.isEmpty }

    package func end() { for relay in relays { relay.close() } }

    private func take(_ time: MonotonicTime) { found = min(found ?? time, time) }
}
