import Architecture
import Glibc
import ProfileModel
import System
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct CallHistoryTests {
    private static func registers(counter: UInt64, behind: UInt64) -> Registers {
        var registers = Registers()
        registers[16] = counter
        registers[2] = behind
        return registers
    }

    @Test func onlyAStreakCounts() {
        var calls = CallHistory()
        for _ in 1..<CallHistory.enough { calls.sawCode() }
        #expect(!calls.isComputing)
        calls.sawCall()
        for _ in 1..<CallHistory.enough { calls.sawCode() }
        #expect(!calls.isComputing)
        calls.sawCode()
        #expect(calls.isComputing)
        calls.sawCode()
        #expect(calls.isComputing)
        calls.sawCall()
        #expect(!calls.isComputing)
    }

    @Test func aHandlerThatMetACallSaysSo() {
        var calls = CallHistory()
        for _ in 0..<CallHistory.enough {
            calls.saw(Self.registers(counter: 0x1000, behind: 0x2000), at: .now) { _, _ in [] }
        }
        #expect(calls.isComputing)
        calls.saw(Self.registers(counter: 0x1000, behind: 0x1000), at: .now) { _, _ in [] }
        #expect(!calls.isComputing)
    }

    /// With FRED rcx is left alone.
    @Test func aCallIsKnownByItsCode() {
        var calls = CallHistory()
        for _ in 0..<CallHistory.enough { calls.sawCode() }
        let registers = Self.registers(counter: 0x1000, behind: 0x2000)
        calls.saw(registers, at: .now) { _, _ in [UInt8](repeating: 0x90, count: 7) }
        #expect(calls.isComputing)
        calls.saw(registers, at: .now) { address, _ in
            address == 0xFF9 ? [0x90, 0x90, 0x90, 0x90, 0x90, 0x0F, 0x05] : []
        }
        #expect(!calls.isComputing)
    }

    /// A page fault is no call, and some calls are not changed by a signal.
    @Test(
        arguments: [
            ([0xB8, 9, 0, 0, 0, 0x0F, 0x05], true),  // mmap
            ([0xB8, 0xE4, 0, 0, 0, 0x0F, 0x05], true),  // clock_gettime
            ([0xB8, 1, 0, 0, 0, 0x0F, 0x05], false),  // write
            ([0xB8, 0x3E, 1, 0, 0, 0x0F, 0x05], false),  // getrandom
            ([0x90, 0x90, 0x90, 0x31, 0xC0, 0x0F, 0x05], true),  // read
            ([0x48, 0x89, 0xF8, 0x89, 0xF0, 0x0F, 0x05], false),  // a number from elsewhere
            ([0xB8, 9, 0, 0, 0x80, 0x0F, 0x05], false), ([0xB8, 9, 0, 0, 0, 0xCD, 0x80], false),
            ([], false), ([0x0F, 0x05], false),
        ] as [([UInt8], Bool)])
    func onlyCallsThatSignalsChangeCount(code: [UInt8], isIndifferent: Bool) {
        var calls = CallHistory()
        for _ in 0..<CallHistory.enough { calls.sawCode() }
        calls.saw(Self.registers(counter: 0x1000, behind: 0x1000), at: .now) { _, _ in code }
        #expect(calls.isComputing == isIndifferent)
        var other = CallHistory()
        for _ in 1..<CallHistory.enough { other.sawCode() }
        other.saw(Self.registers(counter: 0x1000, behind: 0x2000), at: .now) { _, _ in
            [0x48, 0x8B, 0x07, 0x48, 0x8B, 0x40, 0x10]
        }
        #expect(other.isComputing)
    }

    /// A call that has just moved less than requested may have been cut short by us. But files end,
    /// and the rest is fetched where files are endless. (Otherwise, with stops, a Python program
    /// that read its modules was not sampled for a second.)
    @Test(
        arguments: [
            ([0x90, 0x90, 0x90, 0x31, 0xC0, 0x0F, 0x05], false),  // read
            ([0xB8, 1, 0, 0, 0, 0x0F, 0x05], true),  // write
            ([0xB8, 19, 0, 0, 0, 0x0F, 0x05], true),  // readv
        ] as [([UInt8], Bool)])
    func aCallThatMovedLess(code: [UInt8], mayBeOurDoing: Bool) {
        var registers = Self.registers(counter: 0x1000, behind: 0x1000)
        (registers[0], registers[1], registers[4]) = (8192, Self.mebibyte, Self.pointer)
        var calls = CallHistory()
        for _ in 0..<CallHistory.enough { calls.sawCode() }
        let now = MonotonicTime(nanoseconds: 5)
        calls.saw(registers, at: now) { _, _ in code }
        #expect(calls.isComputing != mayBeOurDoing)
        #expect(calls.mayMeetLongCall(at: now) == mayBeOurDoing)
    }

    private static let pointer: UInt64 = 0x7F00_0000_0000
    private static let mebibyte: UInt64 = 1 << 20

    /// rax, rdx and rsi when a call has returned, and whether it seems to have ended early.
    private static let returns: [(got: UInt64, third: UInt64, second: UInt64, isCut: Bool)] = [
        (4096, mebibyte, pointer, true),
        (mebibyte, mebibyte, pointer, false),
        (100, mebibyte, pointer, false),  // a small file
        (8192, 0, mebibyte, true),  // getrandom
        (mebibyte, 0, mebibyte, false),
        (pointer, 3, 4096, false),  // an address
        (UInt64(bitPattern: -4), mebibyte, pointer, false),
        (4096, pointer, pointer, false),
    ]

    @Test(arguments: returns)
    func callsThatEndEarly(got: UInt64, third: UInt64, second: UInt64, isCut: Bool) {
        var registers = Self.registers(counter: 0x1000, behind: 0x1000)
        registers[0] = got
        registers[1] = third
        registers[4] = second
        var calls = CallHistory()
        let now = MonotonicTime(nanoseconds: 5)
        #expect(!calls.mayMeetLongCall(at: now))
        calls.saw(registers, at: now) { _, _ in [] }
        #expect(calls.mayMeetLongCall(at: now + .milliseconds(999)) == isCut)
        #expect(!calls.mayMeetLongCall(at: now + .milliseconds(1000)))
        // In its own code a thread may hold any numbers.
        var other = CallHistory()
        registers[2] = 0x2000
        other.saw(registers, at: now) { _, _ in [] }
        #expect(!other.mayMeetLongCall(at: now))
    }

    /// For some calls another argument says how much was requested.
    @Test(arguments: [(UInt8(40), 0, 10), (0x46, 1, 8), (0x13, 1, 8)])
    func copiesBetweenFilesThatEndEarly(number: UInt8, upper: UInt8, argument: Int) {
        for (wanted, isCut) in [(Self.mebibyte, true), (8192, false)] {
            var registers = Self.registers(counter: 0x1000, behind: 0x1000)
            (registers[0], registers[1], registers[4]) = (8192, 4, Self.pointer)
            registers[argument] = wanted
            var calls = CallHistory()
            let now = MonotonicTime(nanoseconds: 5)
            calls.saw(registers, at: now) { _, _ in [0xB8, number, upper, 0, 0, 0x0F, 0x05] }
            #expect(calls.mayMeetLongCall(at: now) == isCut)
        }
    }

    /// Our own process, with such a file and without.
    @Test func filesWithoutEnd() async {
        await #expect(processExitsWith: .success) {
            func areOpen() -> Bool {
                var files = EndlessFiles(of: KernelProcess(pid: getpid()))
                return files.areOpen(at: .now)
            }
            let endless = ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"]
            // The process that runs the tests may have left some open. Others belong to the tests'
            // own library, which crashes without them.
            for descriptor in 0..<1024 as Range<Int32> {
                guard let path = realpath("/proc/self/fd/\(descriptor)", nil) else { continue }
                defer { free(path) }
                guard endless.contains(String(cString: path)) else { continue }
                dup2(open("/dev/null", O_RDWR), descriptor)
            }
            #expect(!areOpen())
            for path in endless {
                let descriptor = open(path, O_RDONLY)
                try #require(descriptor >= 0)
                #expect(areOpen(), "\(path)")
                close(descriptor)
                #expect(!areOpen())
            }
        }
    }

    @Test func aProcessThatIsNotThere() {
        var files = EndlessFiles(of: KernelProcess(pid: .max))
        let areOpen = files.areOpen(at: .now)
        #expect(!areOpen)
    }
}
