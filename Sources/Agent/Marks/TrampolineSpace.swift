import Architecture
package import ProfileModel

/// Memory for trampolines, shared with the program. It may be written while the program executes
/// the trampolines that are there already.
///
/// Unsafe code: every write lies within the given size.
package struct TrampolineSpace {
    /// Room for a thousand trampolines or more.
    package static let size = 1 << 17

    /// Its address in the program.
    package let address: UInt64
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    private var used: Int

    /// Its first word holds the address that trampolines call.
    package init(memory: UnsafeMutableRawPointer, size: Int, address: UInt64, routine: UInt64) {
        self.memory = memory
        self.address = address
        capacity = size
        used = MemoryLayout<UInt64>.size
        memory.storeBytes(of: routine.littleEndian, as: UInt64.self)
    }

    /// Writes a change's trampoline.
    ///
    /// - Returns: the jump to the trampoline.
    package mutating func place(_ change: MarkPlan.Change) -> Result<[UInt8], MarkRefusal> {
        let place = address &+ UInt64(used)
        guard let code = change.trampoline.bytes(at: place, routine: address),
            let jump = MovableCode.jump(to: place).bytes(at: change.start)
        else { return .failure(.tooFar) }
        guard used + code.count <= capacity else { return .failure(.noRoom) }
        code.withUnsafeBytes { (memory + used).copyMemory(from: $0) }
        used = (used + code.count + 15) / 16 * 16
        return .success(jump)
    }
}

extension UnsafeMutableRawPointer {
    fileprivate func copyMemory(from bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(start: self, count: bytes.count).copyMemory(from: bytes)
    }
}
