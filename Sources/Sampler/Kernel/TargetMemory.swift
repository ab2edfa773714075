import CSystem
import Glibc

/// Reads the profiled process's memory, without stopping it.
struct TargetMemory: Sendable {
    let pid: Int32

    /// Up to `count` bytes from `address`: fewer where the mapping ends, none when it is not
    /// readable.
    func read(at address: UInt64, count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let got = FirstThread.orAnother(of: pid) { tid in
                let got = fl_read_memory(tid, address, buffer.baseAddress, count)
                return got == -Int(ESRCH) ? nil : got
            }
            filled = max(0, got ?? 0)
        }
    }

    /// Whether all the values could be written, past the memory's protection.
    @discardableResult
    func write<Value: FixedWidthInteger>(_ values: [Value], at address: UInt64) -> Bool {
        FirstThread.orAnother(of: pid) { tid in
            ProcFile.write(values, to: "/proc/\(tid)/mem", at: address) ? true : nil
        } ?? false
    }

    func word(at address: UInt64) -> UInt64? {
        let bytes = read(at: address, count: 8)
        return bytes.count == 8 ? bytes.littleEndianWord(at: 0) : nil
    }

    func int32(at address: UInt64) -> Int32? {
        let bytes = read(at: address, count: 4)
        return bytes.count == 4 ? bytes.littleEndianInt32(at: 0) : nil
    }
}

extension [UInt8] {
    /// Whether these bytes are among them. The program may stand meanwhile: the library's own search
    /// took 9 ms for what takes `memmem` some microseconds.
    func hasSequence(_ wanted: String.UTF8View) -> Bool {
        withUnsafeBytes { bytes in
            Array(wanted).withUnsafeBytes {
                fl_find(bytes.baseAddress, bytes.count, $0.baseAddress, $0.count) >= 0
            }
        }
    }

    /// The 64-bit word at `offset`; nil outside the array.
    func littleEndianWord(at offset: Int) -> UInt64? {
        integer(at: offset)
    }

    func littleEndianInt32(at offset: Int) -> Int32? {
        integer(at: offset)
    }

    func littleEndianUInt32(at offset: Int) -> UInt32? {
        integer(at: offset)
    }

    func littleEndianUInt16(at offset: Int) -> UInt16? {
        integer(at: offset)
    }

    private func integer<Value: FixedWidthInteger>(at offset: Int) -> Value? {
        let size = MemoryLayout<Value>.size
        guard offset >= 0, offset <= count - size else { return nil }
        var value: Value = 0
        for index in 0..<size {
            value |= Value(truncatingIfNeeded: self[offset + index]) << (8 * index)
        }
        return value
    }
}
