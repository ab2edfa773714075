/// Guarantees for functions that call each other (psABI), except for those about single registers.
package enum CallingConvention {
    /// How many bytes below the stack pointer a function may use without moving it.
    @inlinable package static var redZone: Int { 128 }

    /// Where a call puts its return address, relative to the canonical frame address.
    @inlinable package static var returnAddressOffset: Int64 { -8 }
}
