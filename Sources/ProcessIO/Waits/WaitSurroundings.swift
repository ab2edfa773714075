package import ProfileModel
import System

/// The facts that we can read of a process, from outside and while it runs, to tell why one of its
/// threads waits. A moment later they may have changed, and the process may fake them.
package protocol WaitSurroundings {
    /// Up to `count` bytes of the process's memory.
    func memory(at address: UInt64, count: Int) -> [UInt8]
    /// Our id of the thread to which the process gives the id `inner`; nil: it has no such thread.
    func thread(_ inner: Int32) -> Int32?
    /// Our id of the child to which the process gives the id `inner`; nil: it has no such child.
    func child(_ inner: Int32) -> Int32?
    /// True if the waiting thread could not be interrupted (state D) when it was first seen
    /// waiting.
    var isUninterruptible: Bool { get }
    /// True if a signal has stopped the thread (state T).
    var isStopped: Bool { get }
    /// True if the thread's control group keeps it from running.
    var isFrozen: Bool { get }
    /// The target of a link under `/proc/PID/fd`.
    func link(of descriptor: Int32) -> String?
    func isNamedPipe(_ descriptor: Int32) -> Bool
    func socket(_ descriptor: Int32) -> SocketEnds?
    /// What the kernel says of an epoll descriptor or a process's descriptor.
    func information(on descriptor: Int32) -> ProcText?
    /// The children of all threads together; nil: unknown.
    var children: [Int32]? { get }
    /// nil: the process is gone, or still runs the program that it was forked from.
    func command(of process: Int32) -> [String]?
}

extension WaitSurroundings {
    /// The time of the monotonic clock at a time of the real-time clock. Right only while the
    /// latter is not set.
    package func monotonic(atReal nanoseconds: Int64) -> MonotonicTime {
        .now + TimeSpan(nanoseconds: nanoseconds &- WallClock.now)
    }

    package func word(at address: UInt64) -> Int32? {
        memory(at: address, count: 4).littleEndianInt32(at: 0)
    }

    /// A text that ends in 0, from at most `most` bytes.
    package func text(at address: UInt64, most: Int = 4096) -> String? {
        let bytes = memory(at: address, count: most)
        guard let end = bytes.firstIndex(of: 0), end > 0 else { return nil }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}

/// The two ends of a socket.
package struct SocketEnds: Hashable {
    package var isListening: Bool
    /// nil: the socket has no address, or one of an unknown kind.
    package var local: SocketAddress?
    package var peer: SocketAddress?
}

/// Surroundings in which nothing can be read: only the call itself tells why the thread waits.
package struct UnknownSurroundings: WaitSurroundings {
    /// The process's ids of its children; nil: unknown, too.
    private let names: (() -> InnerNames)?
    package let isUninterruptible: Bool

    package init(isUninterruptible: Bool, names: (() -> InnerNames)? = nil) {
        self.isUninterruptible = isUninterruptible
        self.names = names
    }

    package func memory(at address: UInt64, count: Int) -> [UInt8] { [] }
    package func thread(_ inner: Int32) -> Int32? { nil }
    package func child(_ inner: Int32) -> Int32? { names?().child(inner) }
    package var isStopped: Bool { false }
    package var isFrozen: Bool { false }
    package func link(of descriptor: Int32) -> String? { nil }
    package func isNamedPipe(_ descriptor: Int32) -> Bool { false }
    package func socket(_ descriptor: Int32) -> SocketEnds? { nil }
    package func information(on descriptor: Int32) -> ProcText? { nil }
    package var children: [Int32]? { nil }
    package func command(of process: Int32) -> [String]? { nil }
}
