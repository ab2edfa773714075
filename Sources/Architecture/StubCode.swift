/// The stubs through which a module calls functions of other modules (`.plt`, `.plt.sec`, `.plt.got`).
package enum StubCode {
    /// The slot that holds the target's address, from `jmp *x(%rip)`; nil: the stub has no such jump.
    ///
    /// - Parameter address: the stub's address.
    package static func slot(of stub: [UInt8], at address: UInt64) -> UInt64? {
        for offset in stub.indices.dropLast(5)
        where (stub[offset], stub[offset + 1]) == CodeBytes.jumpThroughSlot {
            return stub.target(at: offset + 2, start: address)
        }
        return nil
    }

    /// A function's number, from `endbr64; push $index; jmp first`: the form of stubs in `.plt` if
    /// there is a `.plt.sec`. nil: another stub.
    package static func pushedIndex(of stub: [UInt8]) -> Int? {
        let offset = stub.landingMarkLength
        guard offset > 0, stub.at(offset) == CodeBytes.push, let index = stub.int32(at: offset + 1)
        else { return nil }
        return Int(UInt32(bitPattern: index))
    }

    /// The slot of a stub in the program's own code: `jmp *x(%rip)`, perhaps after a mark for
    /// indirect branches, and perhaps with a prefix. nil: other code.
    static func slot(ofCalled stub: [UInt8], at address: UInt64) -> UInt64? {
        var offset = stub.landingMarkLength
        if stub.at(offset) == 0xF2 { offset += 1 }
        guard let first = stub.at(offset), let second = stub.at(offset + 1),
            (first, second) == CodeBytes.jumpThroughSlot
        else { return nil }
        return stub.target(at: offset + 2, start: address)
    }
}
