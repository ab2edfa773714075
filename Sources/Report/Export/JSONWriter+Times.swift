import ProfileModel

extension JSONWriter {
    /// With the nanoseconds as decimals, so that no binary fraction rounds them.
    mutating func microseconds(_ span: TimeSpan) { decimal(span.nanoseconds, digits: 3) }

    mutating func milliseconds(_ span: TimeSpan) { decimal(span.nanoseconds, digits: 6) }
}
