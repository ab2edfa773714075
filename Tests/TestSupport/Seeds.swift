import Foundation

/// Seeds of tests whose cases take long: few at each run of all tests. The environment variable
/// FIRSTLIGHT_SEEDS asks for so many times as many.
public func seeds(_ count: UInt64) -> Range<UInt64> {
    let factor = ProcessInfo.processInfo.environment["FIRSTLIGHT_SEEDS"].flatMap { UInt64($0) }
    return 0..<count * max(factor ?? 1, 1)
}
