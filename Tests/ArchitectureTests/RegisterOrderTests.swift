import Architecture
import CSystem
import Glibc
import TestSupport
import Testing

/// The orders agree with what the kernel and the C library do.
@Suite struct RegisterOrderTests {
    @Test func eachOrderNamesARegisterOnce() {
        let orders = [
            RegisterOrder.arguments, RegisterOrder.samples, RegisterOrder.signalContext,
            RegisterOrder.preserved,
        ]
        for order in orders {
            #expect(Set(order).count == order.count)
            #expect(order.allSatisfy { 0..<Registers.count ~= $0 })
        }
        #expect(RegisterOrder.samples.count == Registers.count)
        #expect(RegisterOrder.signalContext.count == Registers.count)
    }

    /// `enum perf_event_x86_regs` of <asm/perf_regs.h>.
    @Test func perfsBits() {
        #expect(RegisterOrder.perfBits.count == 24)
        #expect(RegisterOrder.perfBits[7] == Registers.stackPointer)
        #expect(RegisterOrder.perfBits[8] == Registers.programCounter)
        #expect(RegisterOrder.perfBits[9...15].allSatisfy { $0 == nil })
        #expect(Array(RegisterOrder.perfBits[16...]) == Array(8...15))
    }

    /// A thread that waits in read(2): what ptrace(2) tells of it, in DWARF's order, is what `/proc` tells
    /// of its call, in the order of arguments.
    @Test func tracersOrder() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let child = try spawn(["cat"], input: ends[0], output: "/dev/null")
        defer {
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
            ends.forEach { close($0) }
        }
        let told = try #require(Self.waitForRead(of: child))
        var raw = fl_registers()
        var status: Int32 = 0
        try #require(fl_ptrace_seize(child, 0) == 0 && fl_ptrace_interrupt(child) == 0)
        defer { fl_ptrace_leave() }
        try #require(fl_wait(child, 0, &status) == child)
        try #require(fl_ptrace_get_registers(child, &raw) == 0)
        #expect(raw.call_number == UInt64(SystemCall.read.rawValue))
        #expect(raw.code_segment == Machine.codeSegment)
        var registers = Registers()
        withUnsafeBytes(of: raw.dwarf) { bytes in
            for number in 0..<Registers.count {
                registers[number] = bytes.load(fromByteOffset: 8 * number, as: UInt64.self)
            }
        }
        #expect((0..<6).map { registers.argument($0) } == told[..<6].map { $0 })
        #expect(registers.stackPointer == told[6])
        #expect(registers.programCounter == told[7])
        #expect(registers[Registers.callReturn] == told[7])
        #expect(registers.argument(6) == nil)
    }

    /// The six arguments, the stack pointer and the program counter, once it waits there.
    private static func waitForRead(of pid: Int32) -> [UInt64]? {
        for _ in 0..<5000 {
            let words = text(of: "/proc/\(pid)/syscall").split(separator: " ")
            if words.count == 9, words[0] == "\(SystemCall.read.rawValue)", words[1] == "0x0" {
                return words[1...].map { UInt64($0.dropFirst(2), radix: 16) ?? 0 }
            }
            usleep(1000)
        }
        return nil
    }

    private static func text(of path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// `struct rt_sigframe`, as a handler of our own sees it.
    @Test func signalContext() {
        let seen = SeenContext.take()
        #expect(SignalFrameLayout.isFlags(seen[SignalFrameLayout.flags]))
        #expect(SignalFrameLayout.isCodeSegment(seen[SignalFrameLayout.codeSegment]))
        let register = { (number: Int) -> UInt64? in
            RegisterOrder.signalContext.firstIndex(of: number).map {
                seen[SignalFrameLayout.registers + $0]
            }
        }
        #expect(register(Registers.stackPointer) == seen[SignalFrameLayout.stackPointer])
        #expect(register(Registers.programCounter) == seen[SignalFrameLayout.programCounter])
        // It was interrupted in the call that sent the signal: in the C library's code, and on a stack
        // that is below this frame's.
        var local: UInt64 = 0
        let here = withUnsafeMutablePointer(to: &local) { UInt64(UInt(bitPattern: $0)) }
        #expect((register(Registers.stackPointer) ?? 0) <= here)
    }
}

/// What a handler was given.
private enum SeenContext {
    nonisolated(unsafe) private static var words = [UInt64](
        repeating: 0, count: SignalFrameLayout.length)

    static func take() -> [UInt64] {
        var action = sigaction()
        action.sa_flags = SA_SIGINFO
        action.__sigaction_handler.sa_sigaction = { _, _, context in
            guard let context else { return }
            for index in SeenContext.words.indices {
                SeenContext.words[index] = context.load(fromByteOffset: 8 * index, as: UInt64.self)
            }
        }
        var previous = sigaction()
        sigaction(SIGUSR2, &action, &previous)
        defer { sigaction(SIGUSR2, &previous, nil) }
        // The test library's threads block signals.
        var mask = sigset_t()
        var before = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, SIGUSR2)
        pthread_sigmask(SIG_UNBLOCK, &mask, &before)
        pthread_kill(pthread_self(), SIGUSR2)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        return words
    }
}
