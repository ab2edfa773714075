import Architecture

/// The registers of the sampled thread, as the kernel writes them.
enum UserRegisters {
    /// Reads the registers in the mask. nil: the sample is too short.
    static func read(_ reader: inout ByteReader, mask: UInt64) -> Registers? {
        var registers = Registers()
        let order = RegisterOrder.perfBits
        for bit in 0..<64 where mask & 1 << UInt64(bit) != 0 {
            guard let value = reader.u64() else { return nil }
            if bit < order.count, let number = order[bit] { registers[number] = value }
        }
        return registers
    }
}
