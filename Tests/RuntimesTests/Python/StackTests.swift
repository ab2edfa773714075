import ProfileModel
import Runtimes
import Testing

/// Copies made by hand, as handlers make them.
struct StackTests {
    private static let none = StackCopy(start: 0, bytes: [])

    private static func code(_ first: Int32) -> PythonCode {
        PythonCode(
            name: "f", qualifiedName: "f", file: "f.py",
            lines: PythonLineTable(.locations, [0x87 | 13 << 3, 2], firstLine: 10), length: 40,
            firstTraceable: first)
    }

    /// - Parameter fields: of each frame, values at offsets; newest first, 0x1000 apart.
    private static func copy(
        _ interpreter: PythonInterpreter, _ fields: [[Int: UInt64]], caller: Int, size: Int = 400
    ) -> RuntimeCopy {
        var copy = RuntimeCopy(thread: 0x8000, threadID: 1, newest: 0x10_0000)
        for (index, values) in fields.enumerated() {
            let address = 0x10_0000 + 0x1000 * UInt64(index)
            var bytes = [UInt8](repeating: 0, count: size)
            var all = values
            all[caller] = index + 1 < fields.count ? address + 0x1000 : 0
            for (offset, value) in all {
                for byte in 0..<8 where value >> UInt64(8 * byte) != 0 {
                    bytes[offset + byte] |= UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
                }
            }
            copy.addresses.append(address)
            for part in interpreter.layout.record {
                copy.records += bytes[part.offset..<(part.offset + part.size)]
            }
            copy.identities += [UInt8](repeating: 1, count: interpreter.layout.identity.size)
        }
        return copy
    }

    /// A frame of 3.12: its place in the code, and its owner.
    private static func frame(_ instruction: Int, owner: UInt64 = 0) -> [Int: UInt64] {
        [
            0: 0x60_0000, 24: 0x70_0000, 56: UInt64(0x60_0000 + 192 + instruction),
            64: owner << 48, 72: 0x71_0000,
        ]
    }

    @Test func `marks tell which frames a native one runs`() throws {
        let interpreter = try #require(MadePython().interpreter)
        let frames = [
            Self.frame(4), Self.frame(6), Self.frame(0, owner: 3), Self.frame(0, owner: 3),
            Self.frame(-2), Self.frame(-2, owner: 1), Self.frame(0, owner: 3),
        ]
        let copy = Self.copy(interpreter, frames, caller: 8)
        let stack = try #require(
            PythonStack(copy, interpreter, stack: Self.none) { _ in Self.code(4) })
        #expect(stack.activations.map(\.place) == [0x10_2000, 0x10_3000, 0x10_6000])
        // One frame has not begun, and does not belong to a generator.
        #expect(stack.activations.map { $0.frames.map(\.instruction) } == [[4, 6], [], [-1]])
        #expect(stack.activations[2].frames[0].line == 10)
        #expect(stack.activations[0].frames[0].line == 11)
        #expect(stack.activations[0].frames[0].firstLocal == 0x71_0000)
        #expect(stack.activations[0].frames[0].globals == 0x70_0000)
        #expect(!stack.isCut)
    }

    @Test func `frames of unknown code are kept, without a name`() throws {
        let interpreter = try #require(MadePython().interpreter)
        let copy = Self.copy(interpreter, [Self.frame(0), Self.frame(0, owner: 3)], caller: 8)
        let stack = try #require(PythonStack(copy, interpreter, stack: Self.none) { _ in nil })
        #expect(stack.activations.map { $0.frames.map(\.code) } == [[nil]])
        #expect(stack.activations[0].frames[0].line == nil)
        // Behind the code's end it cannot be this code.
        let far = Self.copy(interpreter, [Self.frame(40), Self.frame(0, owner: 3)], caller: 8)
        let other = try #require(
            PythonStack(far, interpreter, stack: Self.none) { _ in Self.code(0) })
        #expect(other.activations[0].frames[0].code == nil)
    }

    @Test func `a frame with half of a code object is none`() throws {
        let interpreter = try #require(MadePython().interpreter)
        var copy = Self.copy(interpreter, [Self.frame(4), Self.frame(0, owner: 3)], caller: 8)
        copy.identities.replaceSubrange(8..<32, with: [UInt8](repeating: 0, count: 24))
        #expect(PythonStack(copy, interpreter, stack: Self.none) { _ in nil } == nil)
        // Code that cannot be read is unknown, and the frame is one.
        copy.identities.replaceSubrange(0..<8, with: [UInt8](repeating: 0, count: 8))
        #expect(PythonStack(copy, interpreter, stack: Self.none) { _ in nil } != nil)
    }

    @Test func `copies that end early are cut`() throws {
        let interpreter = try #require(MadePython().interpreter)
        let frames = [Self.frame(4), Self.frame(6), Self.frame(0, owner: 3)]
        var copy = Self.copy(interpreter, frames, caller: 8)
        copy.identities.removeLast(32)
        let fewer = try #require(
            PythonStack(copy, interpreter, stack: Self.none) { _ in Self.code(0) })
        #expect(fewer.isCut && fewer.activations.map(\.place) == [nil])
        #expect(fewer.activations[0].frames.count == 2)
        // Another end than the last record says.
        copy = Self.copy(interpreter, frames, caller: 8)
        copy.rest = 8
        #expect(PythonStack(copy, interpreter, stack: Self.none) { _ in nil } == nil)
        copy = Self.copy(interpreter, frames, caller: 8)
        copy.addresses[1] = 0x4440
        #expect(PythonStack(copy, interpreter, stack: Self.none) { _ in nil } == nil)
        let empty = RuntimeCopy(thread: 8, threadID: nil, newest: 0)
        #expect(
            PythonStack(empty, interpreter, stack: Self.none) { _ in nil }
                == PythonStack(activations: [], isCut: false))
    }

    @Test func `an instruction outside of its code is none`() throws {
        let interpreter = try #require(MadePython().interpreter)
        for instruction in [-1000, 1 << 31, 1 << 40] {
            let copy = Self.copy(interpreter, [Self.frame(instruction)], caller: 8)
            #expect(PythonStack(copy, interpreter, stack: Self.none) { _ in nil } == nil)
        }
    }

    /// A generator's frame has no caller while it does not run.
    @Test func `a generator that has just yielded is not where a list ends`() throws {
        let current = try #require(MadePython().interpreter)
        let (frame, shim) = (Self.frame(4), Self.frame(0, owner: 3))
        func ends(_ frames: [[Int: UInt64]], rest: UInt64 = 0) -> Bool {
            var copy = Self.copy(current, frames, caller: 8)
            copy.rest = rest
            return current.endsAtRoot(copy)
        }
        #expect(ends([frame, shim]) && ends([Self.frame(4, owner: 1), frame, shim]))
        #expect(!ends([Self.frame(4, owner: 1)]) && !ends([frame, Self.frame(4, owner: 1)]))
        #expect(!ends([frame, shim], rest: 8) && !ends([frame]) && !ends([]))
        let yielding = Self.copy(current, [Self.frame(4, owner: 1)], caller: 8)
        #expect(current.isTorn(yielding))
        #expect(!current.isTorn(Self.copy(current, [frame, shim], caller: 8)))

        let marking = try #require(MadePython(0x030B_07F0, codeSize: 184).interpreter)
        let oldest = try #require(MadePython.old.interpreter)
        for (owner, isEnd) in [(UInt64(0), true), (1, false)] {
            let one = Self.copy(marking, [[32: 0x60_0000, 68: 1 | owner << 8]], caller: 48)
            #expect(marking.endsAtRoot(one) == isEnd && !marking.isTorn(one))
            let other = Self.copy(oldest, [[32: 0x60_0000, 96: owner << 20]], caller: 24)
            #expect(oldest.endsAtRoot(other) == isEnd)
        }
    }

    @Test func `of two copies the oldest frames are compared, in all that was copied`() throws {
        let interpreter = try #require(MadePython().interpreter)
        let layout = interpreter.layout
        let frames = [Self.frame(4), Self.frame(6), Self.frame(8), Self.frame(0, owner: 3)]
        let copy = Self.copy(interpreter, frames, caller: 8)
        #expect(copy.commonOldest(copy, layout) == 4)
        func common(_ change: (inout RuntimeCopy) -> Void) -> Int {
            var other = copy
            change(&other)
            #expect(other.commonOldest(copy, layout) == copy.commonOldest(other, layout))
            return copy.commonOldest(other, layout)
        }
        for index in 0..<4 {
            let record = index * layout.recordSize
            #expect(common { $0.records[record] ^= 1 } == 3 - index)
            #expect(common { $0.records[record + layout.recordSize - 1] ^= 1 } == 3 - index)
            #expect(common { $0.identities[index * layout.identity.size + 7] ^= 1 } == 3 - index)
            #expect(common { $0.addresses[index] += 8 } == 3 - index)
        }
        // A list that goes on elsewhere, another thread's, and one that is not all there.
        #expect(common { $0.rest = 8 } == 0)
        #expect(common { $0.thread += 8 } == 0)
        #expect(common { $0.identities.removeLast() } == 0)
        #expect(
            common {
                $0.addresses.removeFirst(2)
                $0.records.removeFirst(2 * layout.recordSize)
                $0.identities.removeFirst(2 * layout.identity.size)
            } == 2)
    }

    /// 3.11: the outermost frame of each activation says so, and the native stack tells the places.
    @Test func `3.11's activations are on the native stack`() throws {
        let interpreter = try #require(MadePython(0x030B_07F0, codeSize: 184).interpreter)
        func frame(isEntry: Bool) -> [Int: UInt64] {
            [32: 0x60_0000, 56: 0x60_0000 + 184 + 6, 68: isEntry ? 1 : 0]
        }
        let frames = [false, true, true, false, true].map { frame(isEntry: $0) }
        var copy = Self.copy(interpreter, frames, caller: 48)
        copy.newest = 0x7000_0100
        func stack(_ entries: [(UInt64, UInt64, UInt64)], size: UInt64 = 0x400) -> StackCopy {
            var memory = MadeMemory()
            for (place, current, previous) in entries {
                memory.write(current, at: place + 8)
                memory.write(previous, at: place + 16)
            }
            memory.fill(0x7000_0000..<(0x7000_0000 + size))
            return StackCopy(
                start: 0x7000_0000, bytes: memory.bytes(at: 0x7000_0000, count: Int(size)) ?? [])
        }
        func places(_ stack: StackCopy) -> [UInt64?]? {
            let made = PythonStack(copy, interpreter, stack: stack) { _ in Self.code(0) }
            #expect(made?.activations.map(\.frames.count) == [2, 1, 2])
            return made?.activations.map(\.place)
        }
        let entries: [(UInt64, UInt64, UInt64)] = [
            (0x7000_0100, 0x10_0000, 0x7000_0200), (0x7000_0200, 0x10_2000, 0x7000_0300),
            (0x7000_0300, 0x10_3000, 0x8150),
        ]
        #expect(places(stack(entries)) == [0x7000_0100, 0x7000_0200, 0x7000_0300])
        // As far as the copied stack goes.
        #expect(places(stack(entries, size: 0x280)) == [0x7000_0100, 0x7000_0200, nil])
        #expect(places(Self.none) == [nil, nil, nil])
        // Lists that do not agree tell nothing.
        var other = entries
        other[1].1 = 0x10_1000
        #expect(places(stack(other)) == [nil, nil, nil])
        other = entries
        other[1].2 = 0x7000_0100
        #expect(places(stack(other)) == [0x7000_0100, 0x7000_0200, nil])
    }

    @Test func `until 3.10, each frame has a native one of its own`() throws {
        let interpreter = try #require(MadePython.old.interpreter)
        let frames: [[Int: UInt64]] = [
            [32: 0x60_0000, 48: 5, 104: 2 | 77 << 32, 360: 9],
            [32: 0x60_0000, 80: 8, 104: 2 | 77 << 32],
            [32: 0x60_0000, 104: 0xFFFF_FFFF],
        ]
        let copy = Self.copy(interpreter, frames, caller: 24)
        let stack = try #require(
            PythonStack(copy, interpreter, stack: Self.none) { _ in Self.code(0) })
        #expect(stack.activations.map(\.frames.count) == [1, 1, 1])
        let all = stack.activations.flatMap(\.frames)
        #expect(all.map(\.instruction) == [2, 2, -1])
        #expect(all.map(\.line) == [11, 77, 10])
        #expect(all[0].globals == 5 && all[0].firstLocal == 9)
    }
}
