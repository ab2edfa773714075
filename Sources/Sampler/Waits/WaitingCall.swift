import ProfileModel

/// What a waiting system call is about, by its number (x86-64) and its arguments.
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
    /// - Parameter registers: at least the call's arguments, as `/proc` tells them.
    init(_ number: Int32, _ registers: Registers) {
        let call = CallArguments(registers)
        self =
            Self.onDescriptor(number, call) ?? Self.onPath(number, call)
            ?? Self.onSocket(number, call) ?? Self.onProcess(number, call)
            ?? Self.onMany(number, call) ?? Self.onTime(number, call)
            ?? FutexCall(number, registers).map(WaitingCall.futex)
            ?? (number < 0 ? .outside : .other)
    }

    /// read write close lseek pread64 pwrite64 readv writev ioctl fsync fdatasync ftruncate
    /// getdents getdents64 sync_file_range splice tee vmsplice fallocate preadv pwritev syncfs
    /// preadv2 pwritev2
    private static let descriptors: Set<Int32> = [
        0, 1, 3, 8, 16, 17, 18, 19, 20, 74, 75, 77, 78, 217, 275, 276, 277, 278, 285, 295, 296, 306,
        327, 328,
    ]

    private static func onDescriptor(_ number: Int32, _ call: CallArguments) -> WaitingCall? {
        switch number {
        case 5: call.descriptor(0).map(descriptor)  // fstat
        case 40: call.descriptor(0).map(descriptor)  // sendfile
        case 73: call.descriptor(0).map(fileLock)  // flock
        case 72:  // fcntl: F_SETLKW F_OFD_SETLKW
            [7, 38].contains(call[1]) ? call.descriptor(0).map(fileLock) : nil
        default: descriptors.contains(number) ? call.descriptor(0).map(descriptor) : nil
        }
    }

    /// open stat lstat access execve truncate rename mkdir rmdir creat link unlink symlink readlink
    /// statfs
    private static let paths: Set<Int32> = [
        2, 4, 6, 21, 59, 76, 82, 83, 84, 85, 86, 87, 88, 89, 137,
    ]
    /// openat mkdirat newfstatat unlinkat renameat readlinkat faccessat renameat2 execveat statx
    /// openat2 faccessat2
    private static let pathsAt: Set<Int32> = [
        257, 258, 262, 263, 264, 267, 269, 316, 322, 332, 437, 439,
    ]

    private static func onPath(_ number: Int32, _ call: CallArguments) -> WaitingCall? {
        if paths.contains(number) { return .path(call[0]) }
        if pathsAt.contains(number) { return .path(call[1]) }
        return number == 162 ? .path(nil) : nil  // sync
    }

    /// accept sendto recvfrom sendmsg recvmsg accept4 recvmmsg sendmmsg
    private static let sockets: Set<Int32> = [43, 44, 45, 46, 47, 288, 299, 307]

    private static func onSocket(_ number: Int32, _ call: CallArguments) -> WaitingCall? {
        if sockets.contains(number) { return call.descriptor(0).map(socket) }
        guard number == 42, let address = call[1], let length = call[2] else { return nil }
        return .connection(to: address, length: length)
    }

    private static func onProcess(_ number: Int32, _ call: CallArguments) -> WaitingCall? {
        switch number {
        case 56, 57, 58, 435: .spawning  // clone fork vfork clone3
        case 61:  // wait4
            call.number(0).map { .child($0 > 0 ? .process($0) : .any) }
        case 247:  // waitid: P_PID, P_PIDFD
            switch call[0] {
            case 1: call.number(1).flatMap { $0 > 0 ? .child(.process($0)) : nil }
            case 3: call.descriptor(1).map { .child(.descriptor($0)) }
            default: .child(.any)
            }
        case 34, 128, 130: .signal  // pause rt_sigtimedwait rt_sigsuspend
        case 65, 220: .systemSemaphore  // semop semtimedop
        case 69, 70, 242, 243: .messageQueue  // msgsnd msgrcv mq_timedsend mq_timedreceive
        default: nil
        }
    }

    private static func onMany(_ number: Int32, _ call: CallArguments) -> WaitingCall? {
        switch number {
        case 7, 271:  // poll ppoll
            guard let address = call[0], let count = call[1] else { return nil }
            return count == 0 ? .sleep(.poll, length: nil) : .poll(address, count: count)
        case 23, 270:  // select pselect6
            guard let count = call[0] else { return nil }
            let sets = [call[1], call[2], call[3]].compactMap { $0 == 0 ? nil : $0 }
            return count == 0 || sets.isEmpty
                ? .sleep(.select, length: nil) : .select(sets, count: count)
        case 232, 281, 441: return call.descriptor(0).map(epoll)  // epoll_wait epoll_pwait, 2
        case 426: return .ioUring
        default: return nil
        }
    }

    private static func onTime(_ number: Int32, _ call: CallArguments) -> WaitingCall? {
        switch number {
        case 35: .sleep(.nanosleep, length: call[0])
        case 230:  // With TIMER_ABSTIME it is no length.
            .sleep(.clockNanosleep, length: call[1] == 0 ? call[2] : nil)
        default: nil
        }
    }
}

/// A system call's arguments in their order.
private struct CallArguments {
    private let registers: Registers
    /// rdi rsi rdx r10 r8 r9
    private static let order = [5, 4, 1, 10, 8, 9]

    init(_ registers: Registers) { self.registers = registers }

    subscript(position: Int) -> UInt64? {
        Self.order.indices.contains(position) ? registers[Self.order[position]] : nil
    }

    /// The kernel looks at 32 bits only.
    func number(_ position: Int) -> Int32? {
        self[position].map { Int32(truncatingIfNeeded: $0) }
    }

    /// nil if the value cannot be a descriptor.
    func descriptor(_ position: Int) -> Int32? {
        number(position).flatMap { $0 >= 0 ? $0 : nil }
    }
}
