import ProfileModel
import Runtimes
import TestSupport
import Testing

/// Whatever a process's memory holds: nothing of this may trap, hang or take much memory.
struct HostileTests {
    private static let releases: [MadePython] = [
        .old, MadePython(0x030B_07F0, codeSize: 184), MadePython(), .later,
    ]

    @Test(arguments: 0..<4)
    func `wild memory is survived`(_ release: Int) throws {
        let made = Self.releases[release]
        let interpreter = try #require(made.interpreter)
        let reader = FrameListReader(interpreter.layout)
        for seed in 0..<300 {
            let memory = WildMemory(seed: UInt64(seed))
            let threads = interpreter.threads(memory)
            #expect(threads.count <= 4096)
            _ = interpreter.check(memory)
            guard let copy = reader.read(thread: 0x10000, memory) else { continue }
            #expect(copy.addresses.count <= FrameListReader.usualLimit)
            Self.parse(copy, interpreter, memory)
            Self.parse(reader.continuing(copy, memory), interpreter, memory)
        }
    }

    @Test(arguments: 0..<4)
    func `wild copies are survived`(_ release: Int) throws {
        let interpreter = try #require(Self.releases[release].interpreter)
        let layout = interpreter.layout
        var numbers = SeededNumbers(seed: 12)
        let reader = FrameListReader(layout)
        for seed in 0..<300 {
            let memory = WildMemory(seed: UInt64(seed))
            let count = Int.random(in: 0...9, using: &numbers)
            var copy = RuntimeCopy(thread: 0x10000, threadID: nil, newest: 0x10008)
            for _ in 0..<count {
                copy.addresses.append(0x10000 + 8 * UInt64.random(in: 0...64, using: &numbers))
                copy.records += memory.bytes(at: 0, count: layout.recordSize) ?? []
                copy.identities += memory.bytes(at: 0, count: layout.identity.size) ?? []
            }
            copy.rest = Bool.random(using: &numbers) ? 0 : 0x10010
            copy.records.removeLast(Int.random(in: 0...copy.records.count, using: &numbers) / 8)
            Self.parse(copy, interpreter, memory)
            Self.parse(reader.continuing(copy, memory), interpreter, memory)
        }
    }

    private static func parse(
        _ copy: RuntimeCopy, _ interpreter: PythonInterpreter, _ memory: WildMemory
    ) {
        var names = PythonNames(interpreter)
        let native = StackCopy(start: 0x10000, bytes: memory.bytes(at: 0, count: 512) ?? [])
        guard
            let stack = PythonStack(
                copy, interpreter, stack: native, code: { names.code(for: $0, memory) })
        else { return }
        for frame in stack.activations.flatMap(\.frames) {
            _ = frame.line
            _ = names.text(at: frame.firstLocal, memory)
        }
        for isComplete in [true, false] {
            _ = PythonMerge.steps(
                (0..<8).map { .init(stackPointer: 0x10000 + 64 * $0, isLoop: $0 % 2 == 0) },
                isComplete: isComplete, stack)
        }
    }

    /// A true interpreter's types, and the rest of them wild: more gets as far as strings and tables.
    @Test func `wild objects of the right types are survived`() throws {
        let made = MadePython()
        let interpreter = try #require(made.interpreter)
        var numbers = SeededNumbers(seed: 5)
        for seed in 0..<500 {
            var memory = MadeMemory()
            for (type, place): (UInt64, UInt64) in [(0x30_0000, 0x60_0000), (0x31_0000, 0x61_0000)]
            {
                memory.write(type, at: place + 8)
                for offset in stride(from: UInt64(16), to: 256, by: 8) {
                    let values = [
                        0, 1, 5, 0x61_0000, 0x61_0000, 0x61_0000,
                        UInt64.random(in: 0...255, using: &numbers), .max,
                    ]
                    memory.write(values.randomElement(using: &numbers) ?? 0, at: place + offset)
                }
            }
            let wild = WildMemory(seed: UInt64(seed), fixed: memory)
            var names = PythonNames(interpreter)
            let identity = memory.bytes(at: 0x60_0000 + 112, count: 32) ?? []
            let code = names.code(
                for: PythonCodeKey(address: 0x60_0000, identity: identity[...]), wild)
            _ = code?.lines.line(at: 100)
            _ = names.text(at: 0x61_0000, wild)
        }
    }
}
