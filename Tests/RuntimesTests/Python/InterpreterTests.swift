import ProfileModel
import Runtimes
import TestSupport
import Testing

struct InterpreterTests {
    @Test func `files of interpreters are told by their names`() {
        let files: [(String, Bool)] = [
            ("/usr/bin/python3.11", true), ("/usr/bin/python3", true), ("/opt/bin/python", true),
            ("/usr/lib/libpython3.13.so.1.0", true), ("libpython3.8.so", true),
            ("/usr/bin/python3.11 (deleted)", true), ("/usr/bin/python3.13t", false),
            ("/usr/lib/libpython3.12d.so.1.0", false), ("/usr/bin/python2.7", false),
            ("/usr/lib/libpython3.7m.so.1.0", false), ("/usr/lib/libpython3.so", false),
            ("/usr/bin/python3.15", false), ("/usr/bin/pythonw", false), ("/bin/sh", false),
            ("/usr/bin/python3-config", false), ("", false), ("/python3.11/", false),
            ("/usr/bin/python3.99999999999999999999", false), ("/usr/bin/python3.", false),
            ("/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so", false),
        ]
        for (path, expected) in files {
            #expect(PythonInterpreter.mayBe(path: path) == expected, "\(path)")
        }
    }

    @Test func `releases are read from the process or the name`() throws {
        let made = try #require(MadePython().interpreter)
        #expect(made.version == PythonVersion(major: 3, minor: 12, micro: 1))
        #expect("\(made.version)" == "3.12.1")
        #expect(
            MadePython.old.interpreter?.version == PythonVersion(major: 3, minor: 8, micro: nil))
        let later = MadePython.later.interpreter
        #expect(later?.version == PythonVersion(major: 3, minor: 13, micro: 0))
        #expect(later?.layout.newest == 72)
        #expect(later?.layout.arena ?? (0, 0) == (232, 240))
        #expect(later?.layout.record == [.init(0, 80)])
        #expect(later?.layout.identity == .init(112, 32))
    }

    @Test func `unknown releases and builds are no interpreters`() {
        // A candidate for a release, an alpha, 3.15, 4.0, 3.7, nonsense.
        for number: UInt64 in [
            0x030C_01C1, 0x030C_00A3, 0x030F_00F0, 0x040B_00F0, 0x0307_00F0, 0, .max,
        ] {
            #expect(MadePython(number).interpreter == nil, "\(number)")
        }
        #expect(MadePython(codeSize: 200).interpreter == nil)
        var debug = MadePython()
        debug.symbols["_Py_NegativeRefcount"] = 0x50_0000
        #expect(debug.interpreter == nil)
        for name in ["_PyRuntime", "PyCode_Type", "PyUnicode_Type"] {
            var without = MadePython()
            without.symbols[name] = nil
            #expect(without.interpreter == nil, "\(name)")
        }
        var other = MadePython.old
        other.path = "/usr/bin/python3.10"
        #expect(other.interpreter == nil)
        other.path = "/usr/bin/python"
        #expect(other.interpreter == nil)
    }

    @Test func `what 3.13 tells of itself must fit`() {
        func changed(_ word: Int, _ value: UInt64) -> PythonInterpreter? {
            var made = MadePython.later
            made.memory.write(value, at: 0x10_0000 + 8 * UInt64(word))
            return made.interpreter
        }
        #expect(changed(1, 0x030D_00F0) != nil)
        // The cookie, another release, a build without the global lock.
        #expect(changed(0, 0) == nil)
        #expect(changed(1, 0x030D_01F0) == nil)
        #expect(changed(2, 1) == nil)
        // Where frames have their locals: before their callers, or far away.
        for value: UInt64 in [0, 8, 56, 81, 4096, .max, 1 << 63] {
            #expect(changed(32, value) == nil, "\(value)")
        }
        // Of code: the table beside the names no more.
        #expect(changed(38, 160) == nil)
        #expect(changed(33, 71)?.offsets != MadePython.later.interpreter?.offsets)
    }

    @Test func `any words make a small layout or none`() {
        var numbers = SeededNumbers(seed: 8)
        var accepted = 0
        for _ in 0..<600 {
            var made = MadePython.later
            for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                let word = UInt64.random(in: 2...72, using: &numbers)
                let values = [
                    0, 8, 100, 4095, 4096, 1 << 20, 1 << 31, 1 << 62, 1 << 63, UInt64.max,
                ]
                made.memory.write(
                    values.randomElement(using: &numbers) ?? 0, at: 0x10_0000 + 8 * word)
            }
            guard let interpreter = made.interpreter else { continue }
            accepted += 1
            #expect(interpreter.layout.isSane)
            #expect(interpreter.layout.recordSize <= 512)
        }
        #expect(accepted > 60)
    }

    @Test func `threads are read from the list of each interpreter`() throws {
        var made = MadePython()
        made.memory.write(UInt64(0x7000), at: 0x10_0000 + 64)
        made.memory.write(UInt64(0x40_0000), at: 0x10_0000 + 40)
        made.memory.write(UInt64(0x41_0000), at: 0x40_0000)
        made.memory.write(UInt64(0x50_0000), at: 0x40_0000 + 72)
        made.memory.write(UInt64(0x52_0000), at: 0x41_0000 + 72)
        made.memory.write(UInt64(0), at: 0x41_0000)
        for (state, next, owner, pthread): (UInt64, UInt64, UInt64, UInt64) in [
            (0x50_0000, 0x51_0000, 0x40_0000, 0x8000), (0x51_0000, 0, 0x40_0000, 0x7000),
            (0x52_0000, 0x52_0000, 0x41_0000, 0x9000),
        ] {
            made.memory.write(next, at: state + 8)
            made.memory.write(owner, at: state + 16)
            made.memory.write(pthread, at: state + 136)
            made.memory.write(pthread + 1, at: state + 144)
            made.memory.fill(state..<(state + 256))
        }
        let interpreter = try #require(made.interpreter)
        let threads = interpreter.threads(made.memory)
        #expect(threads.map(\.state) == [0x50_0000, 0x51_0000, 0x52_0000])
        #expect(threads.map(\.kernelID) == [0x8001, 0x7001, 0x9001])
        #expect(threads.map(\.isMain) == [false, true, false])
        // None has a frame.
        #expect(interpreter.check(made.memory) == nil)
        // A thread that belongs to another interpreter does not count, nor do those that follow it.
        made.memory.write(UInt64(0x41_0000), at: 0x50_0000 + 16)
        #expect(interpreter.threads(made.memory).map(\.state) == [0x52_0000])
        #expect(MadePython().interpreter?.threads(MadePython().memory).isEmpty == true)
    }
}
