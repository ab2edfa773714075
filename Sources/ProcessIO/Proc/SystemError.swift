import Glibc

/// A system call that failed: which one, on what, and why.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    package var operation: String
    package var code: Int32

    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// A thread or a process that could not be started. Says which limit to raise.
    package init(starting what: String, code: Int32) {
        let hint =
            switch code {
            case EAGAIN:
                " (too many threads or processes: raise 'ulimit -u', or pids.max of the control "
                    + "group)"
            case EMFILE: " (too many files are open: raise 'ulimit -n')"
            default: ""
            }
        self.init("starting \(what)\(hint)", code: code)
    }

    package var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

/// Turns the shims' convention (0 or more: success, otherwise -errno) into a typed error.
@discardableResult
package func check<Value: SignedInteger>(
    _ value: Value, _ operation: @autoclosure () -> String
) throws(SystemError) -> Value {
    guard value >= 0 else { throw SystemError(operation(), code: Int32(-value)) }
    return value
}
