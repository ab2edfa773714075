import ProfileModel
import Runtimes
import TestSupport
import Testing

struct NameTests {
    private static let place: UInt64 = 0x60_0000

    private static func made() throws -> (MadePython, PythonNames) {
        var made = MadePython()
        made.write(code: "work", at: place)
        return (made, PythonNames(try #require(made.interpreter)))
    }

    @Test func `code tells its names and lines`() throws {
        let made = try Self.made().0
        var names = try Self.made().1
        let key = MadePython.key(Self.place)
        let found = names.code(for: key, made.memory)
        let code = try #require(found)
        #expect(code.name == "work" && code.qualifiedName == "Class.work")
        #expect(code.file == "/work.py" && code.firstLine == 7)
        #expect(code.length == 40 && code.firstTraceable == 4)
        #expect(code.lines.line(at: 2) == 8)
        #expect(code.lines.line(at: 16) == nil)
        // It is remembered.
        let again = names.code(for: key, MadeMemory())
        #expect(again == code)
    }

    private static func name(of key: PythonCodeKey, in made: MadePython) -> String? {
        made.interpreter.flatMap { interpreter in
            var names = PythonNames(interpreter)
            return names.code(for: key, made.memory)?.name
        }
    }

    @Test func `another object at the same address is not named`() throws {
        var made = try Self.made().0
        #expect(Self.name(of: MadePython.key(Self.place), in: made) == "work")
        var identity = MadePython.identity(Self.place)
        identity[31] = 1
        let other = PythonCodeKey(address: Self.place, identity: identity[...])
        #expect(Self.name(of: other, in: made) == nil)
        made.memory.write(UInt64(0x1234_5678), at: Self.place + 8)
        for place in [Self.place, Self.place + 4, 0] {
            #expect(Self.name(of: MadePython.key(place), in: made) == nil)
        }
        #expect(MadePython.key(8) != MadePython.key(16))
    }

    @Test func `code with lengths that cannot be is not named`() throws {
        let places = [0x110, 0x190, 0x210, 0x290, 16].map { Self.place + $0 }
        for place in places {
            for length: UInt64 in [.max, 1 << 63, 1 << 40, 1 << 31] {
                var made = try Self.made().0
                made.memory.write(length, at: place)
                #expect(Self.name(of: MadePython.key(Self.place), in: made) == nil)
            }
        }
    }

    /// As CPython has them: one, two or four bytes a character, and the state's bits.
    @Test(arguments: [
        ([0x67, 0xE9, 0x74, 0xE9], 1, 0x24, "g\u{E9}t\u{E9}"),
        ([0x6F22, 0x5B57], 2, 0x28, "\u{6F22}\u{5B57}"),
        ([0xD800, 0x41, 0xDFFF], 2, 0x28, "\u{FFFD}A\u{FFFD}"),
        ([0x1_0380, 0x41], 4, 0x30, "\u{10380}A"),
        ([0x11_0000, 0xFFFF_FFFF], 4, 0x30, "\u{FFFD}\u{FFFD}"), ([], 4, 0x30, ""),
    ])
    func `texts of all kinds are read`(
        _ scalars: [UInt32], _ width: Int, _ state: UInt32, _ text: String
    ) throws {
        var made = MadePython()
        let names = PythonNames(try #require(made.interpreter))
        let bytes = scalars.flatMap { scalar in
            (0..<width).map { UInt8(truncatingIfNeeded: scalar >> UInt32(8 * $0)) }
        }
        made.memory.write(UInt64(0x31_0000), at: Self.place + 8)
        made.memory.write(UInt64(scalars.count), at: Self.place + 16)
        made.memory.write(UInt64(state), at: Self.place + 32)
        made.memory.write(bytes, at: Self.place + 56)
        made.memory.fill(Self.place..<(Self.place + 64))
        #expect(names.text(at: Self.place, made.memory) == text)
        // The same characters, elsewhere.
        made.memory.write(UInt64(state & ~0x20), at: Self.place + 32)
        made.memory.write(Self.place + 0x200, at: Self.place + 56)
        made.memory.write(bytes, at: Self.place + 0x200)
        #expect(names.text(at: Self.place, made.memory) == text)
    }

    /// The bytes behind an object's beginning are read with it; a longer text is read once more.
    @Test func `several texts are read at once, and each alone where that fails`() throws {
        var made = MadePython()
        let names = PythonNames(try #require(made.interpreter))
        let texts = ["json.decoder", String(repeating: "n", count: 300), "", "at the end"]
        let places = texts.indices.map { Self.place + 0x400 * UInt64($0) }
        for (text, place) in zip(texts, places) {
            made.write(text: text, at: place)
            if text != texts.last { made.memory.fill(place..<(place + 0x400)) }
        }
        // No object, and memory that cannot be read.
        made.memory.fill((Self.place + 0x2000)..<(Self.place + 0x2400))
        let others = [Self.place + 0x2000, Self.place + 0x4000]
        #expect(names.texts(at: places + others, made.memory) == texts + [nil, nil])
        for (text, place) in zip(texts, places) {
            #expect(names.text(at: place, made.memory) == text)
        }
        #expect(names.texts(at: [], made.memory).isEmpty)
    }

    @Test func `long names are cut, and longer ones are none`() throws {
        var made = MadePython()
        let names = PythonNames(try #require(made.interpreter))
        made.write(text: String(repeating: "n", count: 5000), at: Self.place)
        #expect(names.text(at: Self.place, made.memory)?.count == 4096)
        made.memory.write(UInt64(2 << 20), at: Self.place + 16)
        #expect(names.text(at: Self.place, made.memory) == nil)
        // No text at all, or of no kind.
        made.write(text: "name", at: Self.place)
        #expect(names.text(at: Self.place, made.memory) == "name")
        made.memory.write(UInt64(0x60), at: Self.place + 32)
        #expect(names.text(at: Self.place, made.memory) == nil)
        made.write(text: "name", at: Self.place)
        made.memory.write(UInt64(0x30_0000), at: Self.place + 8)
        #expect(names.text(at: Self.place, made.memory) == nil)
    }
}
