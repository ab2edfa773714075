package import Architecture
package import ProcessIO

/// Where threads make the rest of a call that was cut short (``RestOfCall``), in our code.
extension AgentCode {
    /// The registers that ``fl_rest`` keeps, in its order.
    package static let restRegisters = RegisterOrder.arguments

    /// Where a thread makes the rest of a call in an area.
    package static func restPlaces(in area: UInt64) -> RestOfCall.Places {
        RestOfCall.Places(
            betweenFiles: area &+ rest, made: area &+ restMade,
            ofStream: area &+ restOfStream)
    }

    /// The registers that a thread would have if its call had not been cut short, while our code makes
    /// the rest of the call.
    ///
    /// - Parameters:
    ///   - area: where our code begins in the program.
    ///   - word: reads the thread's stack.
    /// - Returns: nil if the thread is elsewhere in our code.
    package static func outsideRest(
        _ registers: Registers, area: UInt64, word: (UInt64) -> UInt64?
    ) -> Registers? {
        guard restRange.contains(registers.programCounter &- area) else { return nil }
        var outside = registers
        for (index, register) in restRegisters.enumerated() {
            outside[register] = word(registers.stackPointer &+ UInt64(8 * (index + 1)))
        }
        guard let resume = word(registers.stackPointer &+ 56),
            let pointer = word(registers.stackPointer &+ 72)
        else { return nil }
        outside[Registers.programCounter] = resume
        outside[Registers.stackPointer] = pointer
        return outside
    }
}
