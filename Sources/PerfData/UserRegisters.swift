import ProfileModel

/// The x86-64 registers in the kernel's order (`enum perf_event_x86_regs`).
enum UserRegisters {
    /// The DWARF number of each; nil: unwinding does not use it (flags, segments).
    private static let numbers: [Int?] = [
        0, 3, 2, 1, 4, 5, 6, 7, 16, nil, nil, nil, nil, nil, nil, nil, 8, 9, 10, 11, 12, 13, 14,
        15,
    ]

    /// Reads the registers in the mask. nil: the sample is too short.
    static func read(_ reader: inout ByteReader, mask: UInt64) -> Registers? {
        var registers = Registers()
        for bit in 0..<64 where mask & 1 << UInt64(bit) != 0 {
            guard let value = reader.u64() else { return nil }
            if bit < numbers.count, let number = numbers[bit] { registers[number] = value }
        }
        return registers
    }
}
