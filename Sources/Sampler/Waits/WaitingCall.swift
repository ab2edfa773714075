import Architecture
import ProfileModel

/// What a waiting system call is about, by its number and its arguments.
enum WaitingCall: Hashable {
    case futex(FutexCall)
    /// The length is the address of a `timespec`; nil: the call waits until a set time, or it is
    /// unknown.
    case sleep(Sleep, length: UInt64?)
    /// Reads, writes and similar calls on an open file of any kind.
    case descriptor(Int32)
    /// A call on a file by its name, at this address; nil: on all files.
    case path(UInt64?)
    /// With the descriptor of a socket.
    case socket(Int32)
    /// To the socket address at this memory address.
    case connection(to: UInt64, length: UInt64)
    /// `pollfd`s in memory.
    case poll(UInt64, count: UInt64)
    /// Up to three sets of descriptors, of which the first `count` count.
    case select([UInt64], count: UInt64)
    case epoll(Int32)
    case child(Child)
    /// A new process shares its parent's memory until it executes a program or ends.
    case spawning
    case ioUring
    case signal
    /// A lock of a whole file or of a part of it.
    case fileLock(Int32)
    case systemSemaphore
    case messageQueue
    /// Not in a call.
    case outside
    case other

    enum Child: Hashable {
        case process(Int32)
        /// By a descriptor that refers to the process.
        case descriptor(Int32)
        case any
    }

    /// The calls by which programs sleep.
    enum Sleep: String {
        case nanosleep
        case clockNanosleep = "clock_nanosleep"
        case poll
        case select
    }
}

extension WaitingCall {
    /// - Parameter registers: at least the call's arguments, as `/proc` shows them.
    init(_ number: Int32, _ registers: Registers) {
        guard let call = SystemCall(rawValue: number) else {
            self = number < 0 ? .outside : .other
            return
        }
        let arguments = CallArguments(registers)
        self =
            Self.onDescriptor(call, arguments) ?? Self.onPath(call, arguments)
            ?? Self.onSocket(call, arguments) ?? Self.onProcess(call, arguments)
            ?? Self.onMany(call, arguments) ?? Self.onTime(call, arguments)
            ?? FutexCall(number, registers).map(WaitingCall.futex) ?? .other
    }

    private static let descriptors: Set<SystemCall> = [
        .read, .write, .close, .fstat, .lseek, .pread64, .pwrite64, .readv, .writev, .ioctl,
        .sendfile, .fsync, .fdatasync, .ftruncate, .getdents, .getdents64, .splice, .tee,
        .sync_file_range, .vmsplice, .fallocate, .preadv, .pwritev, .syncfs, .preadv2, .pwritev2,
    ]

    private static func onDescriptor(
        _ call: SystemCall, _ arguments: CallArguments
    ) -> WaitingCall? {
        switch call {
        case .flock: arguments.descriptor(0).map(fileLock)
        case .fcntl:  // F_SETLKW F_OFD_SETLKW
            [7, 38].contains(arguments[1]) ? arguments.descriptor(0).map(fileLock) : nil
        default: descriptors.contains(call) ? arguments.descriptor(0).map(descriptor) : nil
        }
    }

    private static let paths: Set<SystemCall> = [
        .open, .stat, .lstat, .access, .execve, .truncate, .rename, .mkdir, .rmdir, .creat, .link,
        .unlink, .symlink, .readlink, .statfs,
    ]
    /// With a folder before the path.
    private static let pathsAt: Set<SystemCall> = [
        .openat, .mkdirat, .newfstatat, .unlinkat, .renameat, .readlinkat, .faccessat, .renameat2,
        .execveat, .statx, .openat2, .faccessat2,
    ]

    private static func onPath(_ call: SystemCall, _ arguments: CallArguments) -> WaitingCall? {
        if paths.contains(call) { return .path(arguments[0]) }
        if pathsAt.contains(call) { return .path(arguments[1]) }
        return call == .sync ? .path(nil) : nil
    }

    private static let sockets: Set<SystemCall> = [
        .accept, .sendto, .recvfrom, .sendmsg, .recvmsg, .accept4, .recvmmsg, .sendmmsg,
    ]

    private static func onSocket(_ call: SystemCall, _ arguments: CallArguments) -> WaitingCall? {
        if sockets.contains(call) { return arguments.descriptor(0).map(socket) }
        guard call == .connect, let address = arguments[1], let length = arguments[2] else {
            return nil
        }
        return .connection(to: address, length: length)
    }

    private static func onProcess(
        _ call: SystemCall, _ arguments: CallArguments
    ) -> WaitingCall? {
        switch call {
        case .clone, .fork, .vfork, .clone3: .spawning
        case .wait4: arguments.number(0).map { .child($0 > 0 ? .process($0) : .any) }
        case .waitid:  // P_PID, P_PIDFD
            switch arguments[0] {
            case 1: arguments.number(1).flatMap { $0 > 0 ? .child(.process($0)) : nil }
            case 3: arguments.descriptor(1).map { .child(.descriptor($0)) }
            default: .child(.any)
            }
        case .pause, .rt_sigtimedwait, .rt_sigsuspend: .signal
        case .semop, .semtimedop: .systemSemaphore
        case .msgsnd, .msgrcv, .mq_timedsend, .mq_timedreceive: .messageQueue
        default: nil
        }
    }

    private static func onMany(_ call: SystemCall, _ arguments: CallArguments) -> WaitingCall? {
        switch call {
        case .poll, .ppoll:
            guard let address = arguments[0], let count = arguments[1] else { return nil }
            guard count == 0 else { return .poll(address, count: count) }
            let isEndless = call == .poll ? (arguments.number(2) ?? 0) < 0 : arguments[2] == 0
            return isEndless ? .signal : .sleep(.poll, length: nil)
        case .select, .pselect6:
            guard let count = arguments[0] else { return nil }
            let sets = (1...3).compactMap { arguments[$0] == 0 ? nil : arguments[$0] }
            guard count == 0 || sets.isEmpty else { return .select(sets, count: count) }
            // Without a time limit only a signal ends it: threads are parked in this way.
            return arguments[4] == 0 ? .signal : .sleep(.select, length: nil)
        case .epoll_wait, .epoll_pwait, .epoll_pwait2:
            return arguments.descriptor(0).map(epoll)
        case .io_uring_enter: return .ioUring
        default: return nil
        }
    }

    private static func onTime(_ call: SystemCall, _ arguments: CallArguments) -> WaitingCall? {
        switch call {
        case .nanosleep: .sleep(.nanosleep, length: arguments[0])
        case .clock_nanosleep:  // With TIMER_ABSTIME it is no length.
            .sleep(.clockNanosleep, length: arguments[1] == 0 ? arguments[2] : nil)
        default: nil
        }
    }
}

/// A system call's arguments in their order.
private struct CallArguments {
    private let registers: Registers

    init(_ registers: Registers) { self.registers = registers }

    subscript(position: Int) -> UInt64? { registers.argument(position) }

    /// The kernel looks at 32 bits only.
    func number(_ position: Int) -> Int32? {
        self[position].map { Int32(truncatingIfNeeded: $0) }
    }

    /// nil if the value cannot be a descriptor.
    func descriptor(_ position: Int) -> Int32? {
        number(position).flatMap { $0 >= 0 ? $0 : nil }
    }
}
