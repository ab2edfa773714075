package import Foundation
import Glibc

/// A pipe between a test and its commands.
package final class Channel {
    /// The ends for reading and for writing; -1 when closed.
    package private(set) var reader: Int32 = -1
    package private(set) var writer: Int32 = -1
    private var pending: [UInt8] = []

    package init() throws {
        var ends: [Int32] = [-1, -1]
        let isThere = Command.whileNoneStarts {
            guard pipe(&ends) == 0 else { return false }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return true
        }
        guard isThere else { throw Command.Failure(description: "no pipe") }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        closeReader()
        closeWriter()
    }

    package func closeReader() {
        if reader >= 0 { close(reader) }
        reader = -1
    }

    package func closeWriter() {
        if writer >= 0 { close(writer) }
        writer = -1
    }

    package func write(_ text: String) throws {
        guard Glibc.write(writer, text, text.utf8.count) == text.utf8.count else {
            throw Command.Failure(description: "nobody reads")
        }
    }

    /// Writes until nothing more fits, so that the next writer waits.
    package func fill() {
        let flags = fcntl(writer, F_GETFL)
        _ = fcntl(writer, F_SETFL, flags | O_NONBLOCK)
        while Glibc.write(writer, "\n", 1) == 1 {}
        _ = fcntl(writer, F_SETFL, flags)
    }

    /// The next line, without its end; nil at the end of the stream.
    package func line(limit: TimeInterval = 300) throws -> String? {
        let deadline = Date(timeIntervalSinceNow: limit)
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                return line
            }
            guard try readMore(until: deadline) else { return nil }
        }
    }

    /// Everything until all writers are gone.
    package func rest(limit: TimeInterval = 300) throws -> String {
        let deadline = Date(timeIntervalSinceNow: limit)
        while try readMore(until: deadline) {}
        return String(decoding: pending, as: UTF8.self)
    }

    /// False at the end of the stream.
    private func readMore(until deadline: Date) throws -> Bool {
        var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        let left = Int32(clamping: Int(deadline.timeIntervalSinceNow * 1000))
        guard left > 0, poll(&entry, 1, left) > 0 else {
            throw Command.Failure(description: "nothing more was written in time")
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(reader, &buffer, buffer.count)
        guard count > 0 else { return false }
        pending += buffer[..<count]
        return true
    }
}
