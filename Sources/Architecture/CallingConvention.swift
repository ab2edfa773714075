/// What functions may rely on when they call each other (psABI), as far as it is not about single
/// registers.
package enum CallingConvention {
    /// How many bytes below the stack pointer a function may use without moving it.
    @inlinable package static var redZone: Int { 128 }

    /// Where a call puts its return address, relative to the canonical frame address.
    @inlinable package static var returnAddressOffset: Int64 { -8 }
}
