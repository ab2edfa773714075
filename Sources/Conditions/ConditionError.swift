import Glibc

/// Why launches under a condition are impossible: one line with the requested condition, the
/// missing part, and a remedy. Nothing has been launched then.
package enum ConditionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// This machine or user does not support it.
    case unsupported(condition: String, missing: String, remedy: String)
    /// A value that cannot be parsed; `expected` names the allowed ones.
    case badValue(condition: String, value: String, expected: String)
    /// A step failed unexpectedly: `errno` tells why.
    case failed(condition: String, step: String, code: Int32)

    /// As for all failures before a program runs. env(1) uses the same.
    package var exitStatus: Int32 { 125 }

    package var description: String {
        switch self {
        case .unsupported(let condition, let missing, let remedy):
            "cannot have \(condition) here: \(missing); \(remedy)"
        case .badValue(let condition, let value, let expected):
            "'\(value)' is not a value for \(condition): \(expected)"
        case .failed(let condition, let step, let code):
            "cannot have \(condition): \(step): \(String(cString: strerror(code)))"
        }
    }
}
