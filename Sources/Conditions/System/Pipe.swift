import Glibc

/// Makes a pipe that programs which we start do not inherit. Returns 0 or an `errno`.
func makePipe(_ ends: inout [Int32]) -> Int32 {
    ends = [-1, -1]
    guard pipe(&ends) == 0 else { return errno }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return 0
}
