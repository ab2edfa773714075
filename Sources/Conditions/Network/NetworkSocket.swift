import Glibc
import System

/// Asks the kernel to change a namespace's network: rtnetlink(7), through a socket that was opened
/// in the namespace.
struct NetworkSocket: ~Copyable {
    private let descriptor: Int32
    private let condition: String

    /// Takes over `descriptor`.
    init(descriptor: Int32, condition: String) {
        self.descriptor = descriptor
        self.condition = condition
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // Makes the kernel explain refusals in words (SOL_NETLINK, NETLINK_EXT_ACK).
        var yes: Int32 = 1
        setsockopt(descriptor, 270, 11, &yes, 4)
    }

    deinit { close(descriptor) }

    /// The kernel refused: `errno`, and its explanation.
    struct Refusal: Error {
        var code: Int32
        var words: String
    }

    func ask(_ message: NetlinkMessage) throws(Refusal) {
        let sent = message.bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
        guard sent == message.bytes.count else { throw Refusal(code: errno, words: "") }
        var answer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = try receive(into: &answer)
            guard count > 0 else { throw Refusal(code: EIO, words: "") }
            switch NetlinkAnswer(answer[..<count]) {
            case .done: return
            case .refused(let code, let words): throw Refusal(code: code, words: words)
            case .other: continue
            }
        }
    }

    private func receive(into answer: inout [UInt8]) throws(Refusal) -> Int {
        do throws(Errno) {
            return try retrying { recv(descriptor, &answer, answer.count, 0) }
        } catch {
            throw Refusal(code: error.number, words: "")
        }
    }

    /// As ``ask(_:)``; `step` names the failed step to the user.
    func ask(_ message: NetlinkMessage, _ step: String) throws(ConditionError) {
        do throws(Refusal) {
            try ask(message)
        } catch {
            throw .failed(
                condition: condition,
                step: error.words.isEmpty ? step : "\(step) (\(error.words))", code: error.code)
        }
    }
}
