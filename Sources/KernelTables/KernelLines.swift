/// The lines of a list of a kernel's symbols. Malformed lines are left out.
struct KernelLines {
    private let text: [UInt8]

    init(_ text: [UInt8]) { self.text = text }

    struct Line {
        var address: UInt64
        /// As `nm` has it: `t`, `T`, `w`, `W` are code.
        var type: UInt8
        var name: ArraySlice<UInt8>
        /// Empty: the symbol is the kernel's own.
        var module: ArraySlice<UInt8>

        var isCode: Bool {
            switch type {
            case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "w"), UInt8(ascii: "W"): true
            default: false
            }
        }

        /// Whether it is the kernel's own symbol of this name. Hidden addresses are zero.
        func isBorder(_ name: StaticString) -> Bool {
            address != 0 && module.isEmpty && self.name.count == name.utf8CodeUnitCount
                && name.withUTF8Buffer { self.name.elementsEqual($0) }
        }

        func isOf(_ wanted: [UInt8]?) -> Bool {
            module.elementsEqual(wanted ?? [])
        }
    }

    func forEach(_ body: (Line) -> Void) {
        var position = text.startIndex
        while position < text.endIndex {
            var address: UInt64 = 0
            var digits = 0
            while position < text.endIndex, let digit = Self.digit(text[position]) {
                address = address << 4 | UInt64(digit)
                digits += 1
                position += 1
            }
            let rest = position
            while position < text.endIndex, text[position] != UInt8(ascii: "\n") { position += 1 }
            if 1...16 ~= digits, let line = Self.line(text[rest..<position], address) {
                body(line)
            }
            position += 1
        }
    }

    /// - Parameter rest: the part after the address: ` T name` and perhaps a tab and `[module]`.
    private static func line(_ rest: ArraySlice<UInt8>, _ address: UInt64) -> Line? {
        let space = UInt8(ascii: " ")
        guard rest.count > 3, rest[rest.startIndex] == space, rest[rest.startIndex + 2] == space
        else { return nil }
        let words = rest.dropFirst(3)
        let end = words.firstIndex(of: UInt8(ascii: "\t")) ?? words.endIndex
        let module = words[end...].dropFirst()
        guard end > words.startIndex else { return nil }
        return Line(
            address: address, type: rest[rest.startIndex + 1], name: words[..<end],
            module: module.first == UInt8(ascii: "[") && module.last == UInt8(ascii: "]")
                ? module.dropFirst().dropLast() : module)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
