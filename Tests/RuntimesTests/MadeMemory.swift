import Runtimes
import TestSupport

/// Memory that a test makes: only bytes that were written can be read.
struct MadeMemory: RuntimeMemory {
    private var kept: [UInt64: UInt8] = [:]

    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        for offset in 0..<count {
            guard let byte = kept[address &+ UInt64(offset)] else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    mutating func write(_ bytes: [UInt8], at address: UInt64) {
        for (offset, byte) in bytes.enumerated() { kept[address &+ UInt64(offset)] = byte }
    }

    mutating func write<Number: FixedWidthInteger>(_ number: Number, at address: UInt64) {
        let size = MemoryLayout<Number>.size
        write(
            (0..<size).map { UInt8(truncatingIfNeeded: number >> Number(8 * $0)) }, at: address)
    }

    /// Zeros, where there is nothing yet.
    mutating func fill(_ range: Range<UInt64>) {
        for address in range where kept[address] == nil { kept[address] = 0 }
    }

    mutating func clear(_ range: Range<UInt64>) {
        for address in range { kept[address] = nil }
    }
}

/// Memory with something at every address: mostly pointers into a small part of it, small numbers
/// and unexpected values. Its contents change with every read.
final class WildMemory: RuntimeMemory {
    private var numbers: SeededNumbers
    /// These are the same at every read.
    private let fixed: MadeMemory?

    init(seed: UInt64, fixed: MadeMemory? = nil) {
        numbers = SeededNumbers(seed: seed)
        self.fixed = fixed
    }

    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        if let bytes = fixed?.bytes(at: address, count: count) { return bytes }
        if Int.random(in: 0..<40, using: &numbers) == 0 { return nil }
        var bytes: [UInt8] = []
        while bytes.count < count {
            let word = word()
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
        return Array(bytes.prefix(count))
    }

    private func word() -> UInt64 {
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0: 0
        case 1: UInt64.random(in: 0...64, using: &numbers)
        case 2: UInt64.random(in: 0...UInt64.max, using: &numbers)
        case 3:
            [UInt64.max, .max - 7, 1 << 63, 1 << 32, 0x7FFF_FFFF].randomElement(using: &numbers)
                ?? 0
        default: 0x10000 + 8 * UInt64.random(in: 0...64, using: &numbers)
        }
    }
}
