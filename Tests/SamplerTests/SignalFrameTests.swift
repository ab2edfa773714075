import CSystem
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Sampler

/// The values that a handler on an alternate stack saw; filled in by the handler.
private enum Seen {
    static let capacity = 64 * 1024
    nonisolated(unsafe) static let copy = UnsafeMutableRawPointer.allocate(
        byteCount: capacity, alignment: 16)
    nonisolated(unsafe) static var start: UInt = 0
    nonisolated(unsafe) static var count = 0
    nonisolated(unsafe) static var stackEnd: UInt = 0
    nonisolated(unsafe) static var interrupted: UInt64 = 0
}

/// Runs `body` on a thread of its own: no other test uses its alternate stack and signals.
private func onOwnThread(
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
) {
    var thread = pthread_t()
    guard pthread_create(&thread, nil, body, nil) == 0 else { return }
    pthread_join(thread, nil)
}

private func takeRealSignal() {
    let size = 256 * 1024
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
    defer { memory.deallocate() }
    var alternate = stack_t()
    alternate.ss_sp = memory
    alternate.ss_size = size
    sigaltstack(&alternate, nil)
    Seen.stackEnd = UInt(bitPattern: memory) + UInt(size)
    var action = sigaction()
    action.sa_flags = SA_SIGINFO | Int32(bitPattern: 0x0800_0000)  // SA_ONSTACK
    action.__sigaction_handler.sa_sigaction = { _, _, context in
        // Anything of this frame lies at or above the stack pointer.
        var local: UInt64 = 0
        withUnsafeMutablePointer(to: &local) { Seen.start = UInt(bitPattern: $0) & ~7 }
        Seen.count = min(Int(Seen.stackEnd - Seen.start), Seen.capacity)
        if let from = UnsafeRawPointer(bitPattern: Seen.start) {
            Seen.copy.copyMemory(from: from, byteCount: Seen.count)
        }
        // uc_mcontext.gregs[REG_RSP]
        Seen.interrupted = context?.load(fromByteOffset: 40 + 15 * 8, as: UInt64.self) ?? 0
    }
    var previous = sigaction()
    sigaction(SIGUSR2, &action, &previous)
    // The test library's threads block all signals, and this one inherited that.
    var mask = sigset_t()
    sigemptyset(&mask)
    sigaddset(&mask, SIGUSR2)
    pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    pthread_kill(pthread_self(), SIGUSR2)
    sigaction(SIGUSR2, &previous, nil)
    alternate.ss_flags = 2  // SS_DISABLE
    sigaltstack(&alternate, nil)
}

@Suite struct SignalFrameTests {
    @Test func theKernelsOwn() throws {
        onOwnThread { _ in
            takeRealSignal()
            return nil
        }
        try #require(Seen.count > 512)
        let bytes = [UInt8](UnsafeRawBufferPointer(start: Seen.copy, count: Seen.count))
        let stack = StackCopy(start: UInt64(Seen.start), bytes: bytes)
        #expect(
            SignalFrame.interruptedStackPointer(behind: stack, at: stack.start) == Seen.interrupted)
        // As from the handler's callee, with a few more words on top.
        let deeper = StackCopy(
            start: stack.start - 1024, bytes: [UInt8](repeating: 0x41, count: 1024) + bytes)
        #expect(
            SignalFrame.interruptedStackPointer(behind: deeper, at: deeper.start)
                == Seen.interrupted)
    }

    // MARK: By hand

    private static let base: UInt64 = 0x7000_0000
    private static let size: UInt64 = 0x8000
    private static let pointer = base + 0x1000
    private static let mainStack: UInt64 = 0x7FFC_0000_1000

    /// A handler's frame of 8 words, then the kernel's.
    private static func words() -> [UInt64] {
        var context = [UInt64](repeating: 0, count: 40)
        context[0] = 7  // flags
        context[2] = base
        context[4] = size
        context[20] = mainStack
        context[23] = 0x2B_0000_0000_0033  // ss, gs, fs, cs
        return [UInt64](repeating: 0x55AA_55AA_55AA_55AA, count: 8) + context
    }

    private static func found(_ words: [UInt64], drop: Int = 0) -> UInt64? {
        let bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
        return SignalFrame.interruptedStackPointer(
            behind: StackCopy(start: pointer, bytes: bytes.dropLast(drop)), at: pointer)
    }

    @Test func aHandMadeFrame() {
        #expect(Self.found(Self.words()) == Self.mainStack)
    }

    private static let changes: [(index: Int, value: UInt64)] = [
        (8 + 2, pointer + 8), (8 + 2, 0), (8 + 4, 0x100), (8 + 4, 1 << 31), (8 + 4, 0),
        (8 + 20, base), (8 + 20, base + size - 8), (8 + 23, 0x23), (8 + 23, 0), (8, 64),
        (8 + 4, .max),
    ]

    /// The stack does not hold the pointer, the interrupted code ran on it too, and so on.
    @Test(arguments: changes)
    func stacksWithoutASignalFrame(index: Int, value: UInt64) {
        var words = Self.words()
        words[index] = value
        #expect(Self.found(words) == nil)
    }

    @Test func aFrameThatWasNotCopiedWhole() {
        for kept in 0..<32 { #expect(Self.found(Array(Self.words().prefix(kept))) == nil) }
        // A part of a word at the end does not matter.
        #expect(Self.found(Self.words(), drop: 3) == Self.mainStack)
        let nothing = StackCopy(start: Self.pointer, bytes: [])
        #expect(SignalFrame.interruptedStackPointer(behind: nothing, at: Self.pointer) == nil)
    }

    /// Where it returns to, the kernel's frame says; the same word elsewhere says nothing.
    @Test func whereAHandlerReturnsTo() {
        let code: Range<UInt64> = 0x5000..<0x5100
        func returns(_ words: [UInt64]) -> Bool {
            let bytes = words.flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
            }
            return SignalFrame.returns(into: code, from: bytes)
        }
        var words = Self.words()
        words[8 + 22] = 0x246
        for (address, isThere) in [
            (0x5000, true), (0x50FF, true), (0x5100, false), (0x4FFF, false), (0, false),
        ] as [(UInt64, Bool)] {
            words[8 + 21] = address
            #expect(returns(words) == isThere)
        }
        words[8 + 21] = 0x5010
        for (index, value) in [(8 + 22, UInt64.max), (8 + 23, 0x23)] {
            var changed = words
            changed[index] = value
            #expect(!returns(changed))
        }
        #expect(!returns([UInt64](repeating: 0x5010, count: 64)))
        #expect(!returns([]) && !returns(Array(words.prefix(20))))
    }

    @Test func noiseIsNoTrap() {
        var random = SeededNumbers(seed: 19)
        for _ in 0..<500 {
            let words = (0..<64).map { _ in
                [0, 7, 0x33, Self.base, Self.size, .max, Self.mainStack, random.next()]
                    .randomElement(using: &random) ?? 0
            }
            _ = Self.found(words)
        }
    }
}
