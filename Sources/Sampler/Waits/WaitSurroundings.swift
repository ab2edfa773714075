import ProfileModel

/// What can be told of a process, from outside and while it goes on, about what one of its threads
/// waits for. All of it may have changed a moment later, and all of it may be made up.
protocol WaitSurroundings {
    /// Up to `count` bytes of its memory.
    func memory(at address: UInt64, count: Int) -> [UInt8]
    func isThread(_ tid: Int32) -> Bool
    /// Whether the waiting thread could not be interrupted (state D) when it was first seen so.
    var isUninterruptible: Bool { get }
    /// Where a link under `/proc/PID/fd` leads to.
    func link(of descriptor: Int32) -> String?
    func isNamedPipe(_ descriptor: Int32) -> Bool
    func socket(_ descriptor: Int32) -> SocketEnds?
    /// What an epoll descriptor or a process's descriptor says of itself.
    func information(on descriptor: Int32) -> ProcText?
    /// Of all threads together; nil: that cannot be told.
    var children: [Int32]? { get }
    /// nil: it is gone, or goes on with the program that it was forked from.
    func command(of process: Int32) -> [String]?
}

extension WaitSurroundings {
    func word(at address: UInt64) -> Int32? {
        memory(at: address, count: 4).littleEndianInt32(at: 0)
    }

    /// A text that ends in 0, up to `most` bytes of it.
    func text(at address: UInt64, most: Int = 4096) -> String? {
        let bytes = memory(at: address, count: most)
        guard let end = bytes.firstIndex(of: 0), end > 0 else { return nil }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}

/// The two ends of a socket.
struct SocketEnds: Hashable {
    var isListening: Bool
    /// nil: it has no address, or one of an unknown kind.
    var local: SocketAddress?
    var peer: SocketAddress?
}
