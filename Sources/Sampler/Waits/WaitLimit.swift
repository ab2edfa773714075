import Architecture

/// The time limit that the program set for a call that waits for descriptors: the length itself, or
/// its address in the program's memory.
enum WaitLimit: Hashable {
    case milliseconds(Int32)
    case timespec(UInt64)
    case timeval(UInt64)

    /// nil: for ever, or no such call.
    init?(_ number: Int32, _ registers: Registers) {
        func milliseconds(_ position: Int) -> WaitLimit? {
            registers.argument(position).map { Int32(truncatingIfNeeded: $0) }
                .flatMap { $0 > 0 ? .milliseconds($0) : nil }
        }
        func address(_ position: Int) -> UInt64? {
            registers.argument(position).flatMap { $0 == 0 ? nil : $0 }
        }
        let found: WaitLimit? =
            switch SystemCall(rawValue: number) {
            case .poll: milliseconds(2)
            case .epoll_wait, .epoll_pwait: milliseconds(3)
            case .ppoll: address(2).map(Self.timespec)
            case .epoll_pwait2: address(3).map(Self.timespec)
            case .pselect6: address(4).map(Self.timespec)
            case .select: address(4).map(Self.timeval)
            default: nil
            }
        guard let found else { return nil }
        self = found
    }
}
