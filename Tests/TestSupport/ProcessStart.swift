import Foundation

/// No process of another test starts while one is opened, or a file is written: it would inherit
/// the open descriptors. A program whose file is open for writing cannot be executed (ETXTBSY).
public enum ProcessStart {
    private static let lock = NSLock()

    public static func alone<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}
