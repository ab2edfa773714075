/// The kinds of calls that the bytes before an address could be: `call rel32`, or `call r/m` of any
/// length (Intel SDM, CALL).
package struct CallPattern: OptionSet, Sendable {
    package var rawValue: UInt8

    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var direct: CallPattern { CallPattern(rawValue: 1) }
    /// Through a pointer.
    @inlinable package static var indirect: CallPattern { CallPattern(rawValue: 2) }

    /// The longest call, in bytes.
    @inlinable package static var length: Int { 7 }

    /// - Parameter code: ``length`` bytes, up to the address.
    package init(endOf code: [UInt8]) {
        self = code[2] == CodeBytes.call ? .direct : []
        for start in 0...5 where code[start] == 0xFF && (code[start + 1] >> 3) & 7 == 2 {
            insert(.indirect)
        }
    }
}

/// `call x`, by the distance to it.
package enum DirectCall {
    /// In bytes.
    package static var length: Int { 5 }

    /// The target of a call that ends where the code ends.
    ///
    /// - Parameters:
    ///   - code: ``length`` bytes.
    ///   - end: the address behind it.
    package static func target(endOf code: [UInt8], at end: UInt64) -> UInt64? {
        guard code.count == length, code[0] == CodeBytes.call else { return nil }
        return code.target(at: 1, start: end &- UInt64(length))
    }

    /// Where calls of a function return to. Bytes within other instructions may look like one.
    ///
    /// - Parameters:
    ///   - start: the address of the first byte.
    ///   - count: only calls that begin within this many bytes are returned.
    package static func returns(
        of code: [UInt8], at start: UInt64, to function: UInt64, beginningIn count: Int
    ) -> [UInt64] {
        var result: [UInt64] = []
        for index in 0..<max(0, min(count, code.count - length + 1))
        where code[index] == CodeBytes.call && code.target(at: index + 1, start: start) == function
        {
            result.append(start &+ UInt64(index + length))
        }
        return result
    }
}

/// A jump through a slot that the dynamic linker fills: a stub of the procedure linkage table.
package enum JumpStub {
    /// In bytes.
    package static var longest: Int { 11 }

    /// - Parameter code: where the stub may begin; ``longest`` bytes, or fewer at the code's end.
    package static func begins(_ code: [UInt8]) -> Bool {
        var rest = code.dropFirst(code.landingMarkLength)
        // Skip a prefix for bounds checks.
        if rest.first == 0xF2 { rest = rest.dropFirst() }
        let jump = CodeBytes.jumpThroughSlot
        return rest.prefix(2).elementsEqual([jump.0, jump.1])
    }
}

/// Code that passes a function's result directly to its next call, as an argument.
package enum HandoverPattern {
    /// The address of the function that receives the result; nil: the code does something else.
    ///
    /// - Parameters:
    ///   - address: where the function with the result returns to.
    ///   - read: returns a number of bytes from there; nil: there are fewer.
    package static func target(
        at address: UInt64, read: (_ count: Int) -> [UInt8]?
    ) -> UInt64? {
        for handover in handovers {
            guard let code = read(handover.count + 5), code.starts(with: handover),
                code[handover.count] == CodeBytes.call
            else { continue }
            return code.target(at: handover.count + 1, start: address)
        }
        return nil
    }

    /// `mov %eax, %edi`; `mov %rax, %rdi`; `movslq %eax, %rdi`
    private static let handovers: [[UInt8]] = [
        [0x89, 0xC7], [0x48, 0x89, 0xC7], [0x48, 0x63, 0xF8],
    ]
}
