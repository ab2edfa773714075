/// One of two profiles that are compared.
package enum Side: Sendable, CaseIterable {
    case before
    case after
}

/// Something of both profiles, side by side.
package struct Compared<Value> {
    package var before: Value
    package var after: Value

    package init(before: Value, after: Value) {
        self.before = before
        self.after = after
    }

    /// - Parameter value: is called for each side, `before` first.
    package init(_ value: (Side) -> Value) {
        self.init(before: value(.before), after: value(.after))
    }

    package subscript(side: Side) -> Value {
        get { side == .before ? before : after }
        set {
            if side == .before { before = newValue } else { after = newValue }
        }
    }

    package func map<Result>(_ transform: (Value) -> Result) -> Compared<Result> {
        Compared<Result> { transform(self[$0]) }
    }
}

extension Compared: Sendable where Value: Sendable {}
extension Compared: Equatable where Value: Equatable {}
extension Compared: Hashable where Value: Hashable {}

extension Compared: AdditiveArithmetic where Value: AdditiveArithmetic {
    package static var zero: Self { Self(before: .zero, after: .zero) }

    package static func + (left: Self, right: Self) -> Self {
        Self { left[$0] + right[$0] }
    }

    package static func - (left: Self, right: Self) -> Self {
        Self { left[$0] - right[$0] }
    }

    /// Positive: the time that was added; negative: the time that was saved.
    package var difference: Value { after - before }
}

extension Compared where Value: Collection {
    /// Whether both sides have several values (of launches, say), so that their spread is known.
    var areSeveral: Bool { before.count > 1 && after.count > 1 }
}
