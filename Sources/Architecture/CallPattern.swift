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

/// Code that passes a function's result directly on, as the argument of its next call.
package enum HandoverPattern {
    /// The address of the function that gets the result; nil: the code does something else.
    ///
    /// - Parameters:
    ///   - address: where the function with the result returns to.
    ///   - read: gives a number of bytes from there; nil: there are not as many.
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
