import ProfileModel
import Runtimes

/// A process with an interpreter, as far as we look at it, made by hand: 3.12, unless told otherwise.
struct MadePython {
    var memory = MadeMemory()
    var symbols: [String: UInt64] = [
        "_PyRuntime": 0x10_0000, "Py_Version": 0x20_0000, "PyCode_Type": 0x30_0000,
        "PyUnicode_Type": 0x31_0000, "PyFrame_Type": 0x32_0000,
    ]
    var path = "/usr/lib/libpython3.12.so.1.0"

    init(_ number: UInt64 = 0x030C_01F0, codeSize: UInt64 = 192, frameSize: UInt64 = 368) {
        memory.write(number, at: 0x20_0000)
        memory.write(codeSize, at: 0x30_0000 + 32)
        memory.write(frameSize, at: 0x32_0000 + 32)
        memory.fill(0x10_0000..<0x10_0400)
    }

    /// 3.8, which tells its release by its name only.
    static var old: MadePython {
        var made = MadePython(codeSize: 176)
        made.symbols["Py_Version"] = nil
        made.path = "/usr/bin/python3.8"
        return made
    }

    /// 3.13, which describes itself.
    static var later: MadePython {
        var made = MadePython(0x030D_00F0, codeSize: 200)
        made.memory.write(Array("xdebugpy".utf8), at: 0x10_0000)
        for (index, word) in offsets.enumerated() {
            made.memory.write(word, at: 0x10_0000 + 8 + 8 * UInt64(index))
        }
        return made
    }

    var interpreter: PythonInterpreter? {
        PythonInterpreter(path: path, symbol: { symbols[$0] }, memory: memory)
    }

    /// What 3.13.0 tells of itself, behind the cookie.
    static let offsets: [UInt64] = [
        51183856, 0, 283320, 608, 632, 194968, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16,
        7752, 0, 7768, 7760, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72, 70,
        208, 112, 120, 128, 136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16,
        40, 24, 16, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200,
    ]

    /// Writes a str of Latin letters.
    mutating func write(text: String, at address: UInt64) {
        memory.write(symbols["PyUnicode_Type"] ?? 0, at: address + 8)
        memory.write(UInt64(text.utf8.count), at: address + 16)
        memory.write(UInt64(0x64), at: address + 32)
        memory.write(Array(text.utf8), at: address + 40)
        memory.fill(address..<(address + 48))
    }

    /// Writes a code object of 3.12 with 20 instructions, of which two are before the first traceable
    /// one.
    mutating func write(code name: String, at address: UInt64) {
        memory.write(symbols["PyCode_Type"] ?? 0, at: address + 8)
        memory.write(UInt64(20), at: address + 16)
        memory.write(Int32(7), at: address + 68)
        memory.write(Int32(2), at: address + 176)
        for (index, offset) in [112, 120, 128, 136].enumerated() {
            memory.write(address + 0x100 + 0x80 * UInt64(index), at: address + UInt64(offset))
        }
        write(text: "/\(name).py", at: address + 0x100)
        write(text: name, at: address + 0x180)
        write(text: "Class.\(name)", at: address + 0x200)
        memory.write(UInt64(3), at: address + 0x280 + 16)
        memory.write([0x87 | 13 << 3, 2, 0x83 | 15 << 3], at: address + 0x280 + 32)
        memory.fill(address..<(address + 0x2C0))
    }

    static func key(_ address: UInt64) -> PythonCodeKey {
        PythonCodeKey(address: address, identity: identity(address)[...])
    }

    /// Of a code object that ``write(code:at:)`` wrote.
    static func identity(_ address: UInt64) -> [UInt8] {
        (0..<4).flatMap { index -> [UInt8] in
            let word = address + 0x100 + 0x80 * UInt64(index)
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
    }
}
