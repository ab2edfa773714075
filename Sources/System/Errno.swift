import Glibc

/// Why the kernel refused a call.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package var number: Int32

    package init(_ number: Int32) { self.number = number }

    package var description: String { String(cString: strerror(number)) }
}

/// Makes a call that returns -1 on failure, and repeats it while signals interrupt it (EINTR).
package func retrying<Count: SignedInteger>(_ call: () -> Count) throws(Errno) -> Count {
    while true {
        let result = call()
        // Read before anything else can change it.
        let number = errno
        if result != -1 { return result }
        guard number == EINTR else { throw Errno(number) }
    }
}
