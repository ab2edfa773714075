/// The code at a program's entry point. It tells where `main` is even in stripped programs.
///
/// Every glibc `_start` loads `main`'s address into the first argument register of its
/// one call, `__libc_start_main` (sysdeps/x86_64/start.S). Only a handful of instructions do this.
/// Reading them is cheaper than stepping through them, and does not disturb the program.
///
/// musl's `_start` first calls a second function, which the linker places right behind it (crt1.c).
/// That function does the same, but may enter `__libc_start_main` by a jump.
package struct StartCode: Hashable {
    /// How many bytes of the entry code are needed.
    package static let length = 96

    /// Where `main` is found.
    package enum Main: Hashable {
        /// The address, and where the code names it, if it does so by four bytes.
        case at(UInt64, Reference?)
        /// The address is in this slot of the program's offset table, once that is relocated.
        case inSlot(UInt64)
    }

    /// The four bytes of an instruction that name an address.
    package struct Reference: Hashable {
        /// Where the four bytes are.
        package var address: UInt64
        /// True if they hold a distance, counted from their end, instead of the address itself.
        package var isDistance: Bool

        /// The eight bytes at `address`, now `word`, after the first four have been changed to name
        /// another address; nil: four bytes cannot name it.
        package func word(leadingTo target: UInt64, in word: UInt64) -> UInt64? {
            let value =
                isDistance
                ? Int64(bitPattern: target &- (address &+ 4)) : Int64(bitPattern: target)
            guard let short = Int32(exactly: value) else { return nil }
            return word & ~0xFFFF_FFFF | UInt64(UInt32(bitPattern: short))
        }
    }

    /// The candidate for `main`; nil if the code does not look like glibc's or musl's. The caller
    /// must check that it is in an executable segment of the program.
    package private(set) var main: Main?
    /// True if the code is musl's.
    package let isMusl: Bool
    /// The call to the C library, and its way to its target.
    private var call: Call?
    /// True if a C library's start code was recognised.
    package var isCLibrarys: Bool { isMusl || (main != nil && call != nil) }

    private enum Call: Hashable {
        /// `call *x(%rip)`
        case through(slot: UInt64)
        /// `call x`: to a stub, unless the function is in the program.
        case to(UInt64)
    }

    package init(_ code: [UInt8], at entry: UInt64) {
        isMusl = code.starts(with: Self.muslsHead)
        if isMusl {
            readSecond(code, from: Self.secondFunction(code), entry: entry)
            return
        }
        var index = 0
        while index < code.count {
            if let call = Self.call(code, at: index, entry: entry) {
                self.call = call
                return
            }
            if main == nil { main = Self.argumentLoad(code, at: index, entry: entry) }
            index += Self.isLoad(code, at: index) ? 7 : 1
        }
    }

    /// `xor %rbp, %rbp; mov %rsp, %rdi`: the stack pointer is the first argument.
    private static let muslsHead: [UInt8] = [0x48, 0x31, 0xED, 0x48, 0x89, 0xE7]

    /// Where musl's entry code continues: it makes one call, with an aligned stack. nil: no such
    /// code.
    private static func secondFunction(_ code: [UInt8]) -> Int? {
        let aligned: [UInt8] = [0x48, 0x83, 0xE4, 0xF0, 0xE8]
        guard
            let call = (6...20).first(where: { code.dropFirst($0).starts(with: aligned) }),
            let distance = code.int32(at: call + 5)
        else { return nil }
        let second = call + 9 + Int(distance)
        return (call + 9..<code.count).contains(second) ? second : nil
    }

    private mutating func readSecond(_ code: [UInt8], from second: Int?, entry: UInt64) {
        guard var index = second else { return }
        while index < code.count {
            if main == nil { main = Self.argumentLoad(code, at: index, entry: entry) }
            if main != nil, let call = Self.last(code, at: index, entry: entry) {
                self.call = call
                return
            }
            index +=
                Self.isLoad(code, at: index) ? 7 : Self.isShortLoad(code, at: index) ? 5 : 1
        }
        main = nil
    }

    /// `mov $x, %reg`
    private static func isShortLoad(_ code: [UInt8], at index: Int) -> Bool {
        code[index] & 0xF8 == 0xB8
    }

    /// The word in which the program finds the C library's start function.
    ///
    /// - Parameter read: reads at most `count` bytes of the program's memory.
    package func startPointer(read: (_ address: UInt64, _ count: Int) -> [UInt8]) -> UInt64? {
        switch call {
        case nil: nil
        case .through(let pointer): pointer
        case .to(let stub): StubCode.slot(ofCalled: read(stub, 16), at: stub)
        }
    }

    /// `lea x(%rip), %reg` · `mov x(%rip), %reg` · `mov $x, %reg`. The operand may be any bytes:
    /// before glibc 2.34, two more arguments were addresses.
    private static func isLoad(_ code: [UInt8], at index: Int) -> Bool {
        guard code[index] & 0xF0 == 0x40, let mode = code.at(index + 2) else { return false }
        switch code.at(index + 1) {
        case 0x8D, 0x8B: return mode & 0xC7 == 0x05
        case 0xC7: return mode & 0xC0 == 0xC0
        default: return false
        }
    }

    /// `lea main(%rip), %rdi` · `mov main@GOTPCREL(%rip), %rdi` · `mov $main, %rdi` (or `%edi`).
    private static func argumentLoad(_ code: [UInt8], at index: Int, entry: UInt64) -> Main? {
        let place = entry &+ UInt64(index)
        switch (code[index], code.at(index + 1), code.at(index + 2)) {
        case (0x48, 0x8D, 0x3D), (0x48, 0x8B, 0x3D):
            guard let address = code.target(at: index + 3, start: entry) else { return nil }
            return code[index + 1] == 0x8D
                ? .at(address, Reference(address: place &+ 3, isDistance: true))
                : .inSlot(address)
        case (0x48, 0xC7, 0xC7):
            guard let value = code.int32(at: index + 3) else { return nil }
            return .at(
                UInt64(bitPattern: Int64(value)),
                Reference(address: place &+ 3, isDistance: false))
        case (0xBF, _, _):
            return code.int32(at: index + 1).map {
                .at(
                    UInt64(UInt32(bitPattern: $0)),
                    Reference(address: place &+ 1, isDistance: false))
            }
        default:
            return nil
        }
    }

    /// `call *x(%rip)` · `jmp *x(%rip)` · `call x` · `jmp x`
    private static func last(_ code: [UInt8], at index: Int, entry: UInt64) -> Call? {
        switch (code[index], code.at(index + 1)) {
        case (0xFF, 0x15), (0xFF, 0x25):
            return code.target(at: index + 2, start: entry).map { .through(slot: $0) }
        case (0xE8, _), (0xE9, _):
            return code.target(at: index + 1, start: entry).map { .to($0) }
        default: return nil
        }
    }

    /// `call *x(%rip)` · `call x`, followed by the `hlt` that is never reached.
    private static func call(_ code: [UInt8], at index: Int, entry: UInt64) -> Call? {
        switch (code[index], code.at(index + 1)) {
        case (0xFF, 0x15) where code.at(index + 6) == 0xF4:
            return code.target(at: index + 2, start: entry).map { .through(slot: $0) }
        case (0xE8, _) where code.at(index + 5) == 0xF4:
            return code.target(at: index + 1, start: entry).map { .to($0) }
        default: return nil
        }
    }
}

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
