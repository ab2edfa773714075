import Glibc

/// Why a launch cannot be made under a condition: in one line what was asked for, what is missing, and
/// what would help. Nothing has been launched then.
package enum ConditionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// This machine or user cannot have it.
    case unsupported(condition: String, missing: String, remedy: String)
    /// A value that cannot be understood; `expected` says what could.
    case badValue(condition: String, value: String, expected: String)
    /// What should have worked has not: `errno` says why.
    case failed(condition: String, step: String, code: Int32)

    /// As for everything that we cannot do before a program runs: env(1) has the same.
    package var exitStatus: Int32 { 125 }

    package var description: String {
        switch self {
        case .unsupported(let condition, let missing, let remedy):
            "cannot have \(condition) here: \(missing); \(remedy)"
        case .badValue(let condition, let value, let expected):
            "'\(value)' is no value for \(condition): \(expected)"
        case .failed(let condition, let step, let code):
            "cannot have \(condition): \(step): \(String(cString: strerror(code)))"
        }
    }
}
