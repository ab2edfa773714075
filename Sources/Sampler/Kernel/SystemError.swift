import Glibc

/// A system call that failed: which one, on what, and why.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    package var operation: String
    package var code: Int32

    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    package var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

/// Turns the shims' convention (0 or more: success, otherwise -errno) into a typed error.
@discardableResult
func check<Value: SignedInteger>(
    _ value: Value, _ operation: @autoclosure () -> String
) throws(SystemError) -> Value {
    guard value >= 0 else { throw SystemError(operation(), code: Int32(-value)) }
    return value
}
