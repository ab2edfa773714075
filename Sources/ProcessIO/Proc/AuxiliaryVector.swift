import ProfileModel

/// What the kernel told a new program about itself (`/proc/PID/auxv`, getauxval(3)).
package struct AuxiliaryVector: Hashable, Sendable {
    /// The program's headers in memory, and how many there are.
    package var programHeaders: UInt64 = 0
    package var programHeaderCount: UInt64 = 0
    /// Where the dynamic linker was mapped; 0 for a static program.
    package var linkerBase: UInt64 = 0
    /// The program's own entry point.
    package var entry: UInt64 = 0
    /// The vdso; 0 without one.
    package var vdso: UInt64 = 0
    /// The path that was given to execve(2), as text that ends in a zero; 0 without one.
    package var fileName: UInt64 = 0

    /// All zero if the process is gone.
    package init(pid: Int32) {
        var buffer = ReadBuffer()
        buffer.readAll("auxv", of: pid)
        self.init(buffer.contents)
    }

    package init(_ bytes: [UInt8]) {
        var offset = 0
        while let key = bytes.littleEndianWord(at: offset),
            let value = bytes.littleEndianWord(at: offset + 8), key != 0
        {
            switch key {
            case 3: programHeaders = value
            case 5: programHeaderCount = value
            case 7: linkerBase = value
            case 9: entry = value
            case 31: fileName = value
            case 33: vdso = value
            default: break
            }
            offset += 16
        }
    }
}

extension AuxiliaryVector {
    /// Where on the first thread's stack the program finds its entry point: behind its arguments
    /// and its environment (System V ABI, "Process Initialization"). nil: it is missing, or too far
    /// up.
    package func entryPointer(onStack start: UInt64, _ memory: TargetMemory?) -> UInt64? {
        guard let words = memory?.read(at: start, count: 1 << 16),
            let count = words.littleEndianWord(at: 0), count < UInt64(words.count)
        else { return nil }
        var offset = 8 * (Int(count) + 2)
        while let variable = words.littleEndianWord(at: offset), variable != 0 { offset += 8 }
        offset += 8
        while let key = words.littleEndianWord(at: offset),
            let value = words.littleEndianWord(at: offset + 8), key != 0
        {
            if key == 9 { return value == entry ? start &+ UInt64(offset) &+ 8 : nil }
            offset += 16
        }
        return nil
    }
}
