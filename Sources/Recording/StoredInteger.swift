import ProfileModel

/// A value that a column of integers can hold.
protocol StoredInteger {
    var stored: Int64 { get }
    /// nil for a number that ``stored`` never gives.
    init?(stored: Int64)
}

extension StoredInteger where Self: FixedWidthInteger {
    var stored: Int64 { Int64(truncatingIfNeeded: self) }
    init?(stored: Int64) { self.init(exactly: stored) }
}

extension Int: StoredInteger {}
extension Int64: StoredInteger {}
extension Int32: StoredInteger {}

/// Addresses use all 64 bits; SQLite's integers are signed, so the upper half becomes negative.
extension UInt64: StoredInteger {
    init?(stored: Int64) { self.init(bitPattern: stored) }
}

extension Bool: StoredInteger {
    var stored: Int64 { self ? 1 : 0 }
    init?(stored: Int64) {
        guard 0...1 ~= stored else { return nil }
        self = stored == 1
    }
}

extension StoredInteger where Self: RawRepresentable, RawValue: FixedWidthInteger {
    var stored: Int64 { Int64(truncatingIfNeeded: rawValue) }
    init?(stored: Int64) {
        guard let value = RawValue(exactly: stored) else { return nil }
        self.init(rawValue: value)
    }
}

extension CodeAddress.Kind: StoredInteger {}
extension LaunchBorder.Kind: StoredInteger {}
extension Truncation: StoredInteger {}

extension MonotonicTime: StoredInteger {
    var stored: Int64 { nanoseconds }
    init?(stored: Int64) { self.init(nanoseconds: stored) }
}

extension TimeSpan: StoredInteger {
    var stored: Int64 { nanoseconds }
    init?(stored: Int64) { self.init(nanoseconds: stored) }
}

extension ThreadIndex: StoredInteger {
    var stored: Int64 { Int64(rawValue) }
    init?(stored: Int64) { self.init(Int(stored)) }
}

extension ModuleIndex: StoredInteger {
    var stored: Int64 { Int64(rawValue) }
    init?(stored: Int64) { self.init(Int(stored)) }
}

extension ChildIndex: StoredInteger {
    var stored: Int64 { Int64(rawValue) }
    init?(stored: Int64) { self.init(Int(stored)) }
}

extension StackID: StoredInteger {
    var stored: Int64 { Int64(rawValue) }
    init?(stored: Int64) {
        guard let value = Int32(exactly: stored) else { return nil }
        self.init(value)
    }
}

extension Recording.Outcome {
    /// The values of the columns `outcome` and `outcome_value`; both NULL if the outcome is
    /// unknown.
    var stored: (name: String?, value: Int64?) {
        switch self {
        case .exited(let status): ("exited", Int64(status))
        case .signalled(let signal): ("signalled", Int64(signal))
        case .running: ("running", nil)
        case .unknown: (nil, nil)
        }
    }

    /// nil for a pair that ``stored`` never gives.
    init?(storedName name: String?, value: Int64?) {
        switch (name, value.map { Int32(exactly: $0) }) {
        case ("exited", .some(.some(let status))): self = .exited(status)
        case ("signalled", .some(.some(let signal))): self = .signalled(signal)
        case ("running", .none): self = .running
        case (.none, .none): self = .unknown
        default: return nil
        }
    }
}
