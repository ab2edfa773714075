package import ProfileModel

extension JSONWriter {
    /// With the nanoseconds as decimals, so that no binary fraction rounds them.
    package mutating func microseconds(_ span: TimeSpan) { decimal(span.nanoseconds, digits: 3) }

    package mutating func milliseconds(_ span: TimeSpan) { decimal(span.nanoseconds, digits: 6) }
}
