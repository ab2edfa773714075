import Glibc

/// A pipe whose ends are closed in programs that we start. 0 or `errno`.
func makePipe(_ ends: inout [Int32]) -> Int32 {
    ends = [-1, -1]
    guard pipe(&ends) == 0 else { return errno }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return 0
}
