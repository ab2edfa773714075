import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import Synchronization
import System

/// `notify`: acts as the service manager that sd_notify(3) talks to, and passes on its messages to
/// the real one.
///
/// One of our threads waits for messages as long as we live, even after the recording: a sender of
/// a descriptor with a message (sd_notify_barrier) waits until we close the descriptor.
package final class NotifySource: ReadySource, Sendable {
    /// The value for NOTIFY_SOCKET.
    package let name: String
    private let socket: Int32
    private let moment = AwaitedMoment()
    /// The outer service manager's socket; nil: there is none.
    private let outer: String?
    /// Locked while messages are taken.
    private let buffer = Mutex([UInt8](repeating: 0, count: 65536))
    /// True if messages may no longer be taken.
    private let isOver = Atomic(false)

    /// - Parameter folder: the folder for the socket. nil: the socket gets an abstract name, which
    ///   only a program in our network namespace can find.
    package init(in folder: String?) throws(SystemError) {
        if let folder {
            name = "\(folder)/notify"
            unlink(name)
            socket = try check(fl_notify_open_at(name), "making a notification socket in \(folder)")
        } else {
            var name = [CChar](repeating: 0, count: 128)
            socket = try check(fl_notify_open(&name, name.count), "making a notification socket")
            self.name = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        }
        outer = getenv("NOTIFY_SOCKET").map { String(cString: $0) }
        guard startThread({ [self] in serve() }) else {
            close(socket)
            throw SystemError("starting a thread for notifications", code: EAGAIN)
        }
    }

    package func began(_ pid: Int32) { moment.pid = pid }

    package var needsLooks: Bool { false }

    package func end() {
        isOver.store(true, ordering: .releasing)
        shutdown(socket, Int32(SHUT_RDWR))
    }

    package func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        moment.time
    }

    package func lastLook(_ signals: SignalQueue) -> MonotonicTime? {
        // Our thread may be waiting for a service manager that hangs. The end of the recording must
        // not wait for it.
        for _ in 0..<Self.patience {
            guard
                buffer.withLockIfAvailable({ takeMessages(&$0, limit: Self.patience) }) == nil
            else { break }
            usleep(1000)
        }
        return moment.time
    }

    /// How long we may delay a recording's end, in milliseconds.
    private static let patience: Int32 = 100

    private func serve() {
        defer { close(socket) }
        while !isOver.load(ordering: .acquiring) {
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, -1) > 0 else { continue }
            // Without us, the program would have to wait for the service manager, too.
            buffer.withLock { takeMessages(&$0, limit: 0) }
        }
    }

    /// - Parameter limit: the longest time for passing on, in milliseconds; 0: no limit.
    private func takeMessages(_ buffer: inout [UInt8], limit: Int32) {
        var limit = limit
        var notification = fl_notification()
        while !isOver.load(ordering: .acquiring) {
            let length = fl_notify_receive(socket, &buffer, buffer.count, &notification)
            guard length >= 0 else { return }
            let isPassed = take(buffer[..<length], notification, at: .now, limit: limit)
            if limit > 0, !isPassed { limit = 1 }
        }
    }

    /// - Returns: false if the outer service manager took too long.
    private func take(
        _ message: ArraySlice<UInt8>, _ notification: fl_notification, at time: MonotonicTime,
        limit: Int32
    ) -> Bool {
        let descriptors = withUnsafeBytes(of: notification.descriptors) { bytes in
            Array(bytes.bindMemory(to: Int32.self).prefix(Int(notification.count)))
        }
        defer { for descriptor in descriptors { close(descriptor) } }
        guard let pid = moment.pid else { return true }
        let sender = NotifySender(notification, of: pid)
        if sender.isOfProgram, Notification.saysReady(message) { moment.came(at: time) }
        guard sender.isOfProgram || sender.isOfItsUser else { return true }
        // A message longer than our buffer cannot be passed on unchanged.
        guard let outer, notification.is_cut == 0 else { return true }
        return Array(message).withUnsafeBytes { bytes in
            fl_notify_send(
                outer, bytes.baseAddress, bytes.count, descriptors, Int32(descriptors.count), limit)
        } != -EAGAIN
    }
}

/// The sender of a message. The real service manager decides for itself which senders it trusts. We
/// decide only whether the message ends the launch.
private struct NotifySender {
    /// True for the process and its descendants, and for a daemon, which has left its parents but
    /// not the session or control group. A sender may be gone already (`systemd-notify` lives only
    /// for a moment); then its user must be the program's.
    let isOfProgram: Bool
    /// The same user as the process's, or our own.
    let isOfItsUser: Bool

    init(_ notification: fl_notification, of pid: Int32) {
        let user = Int64(notification.uid)
        let isSameUser = ProcessFiles(pid: pid).status("Uid:") == user
        isOfItsUser = isSameUser || user == Int64(getuid())
        let sender = notification.pid
        switch Ancestry.isWithin(sender, pid) {
        case true?: isOfProgram = true
        case nil: isOfProgram = isSameUser
        case false?:
            let (session, group) = (getsid(pid), Self.controlGroup(of: pid))
            isOfProgram =
                isOfItsUser && sender > 0
                && (session > 0 && getsid(sender) == session
                    || !group.isEmpty && Self.controlGroup(of: sender) == group)
        }
    }

    private static func controlGroup(of pid: Int32) -> [UInt8] {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/cgroup")
        return buffer.contents
    }
}

/// The messages of sd_notify(3): lines of `NAME=value`.
package enum Notification {
    package static func saysReady(_ message: some Collection<UInt8>) -> Bool {
        message.split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual("READY=1".utf8) }
    }
}
