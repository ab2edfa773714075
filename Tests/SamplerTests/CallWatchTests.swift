import Glibc
import ProfileModel
import System
import Testing

@testable import Sampler

@Suite struct CallWatchTests {
    private static func registers(counter: UInt64, behind: UInt64) -> Registers {
        var registers = Registers()
        registers[16] = counter
        registers[2] = behind
        return registers
    }

    @Test func onlyAStreakCounts() {
        var watch = CallWatch()
        for _ in 1..<CallWatch.enough { watch.sawCode() }
        #expect(!watch.isComputing)
        watch.sawCall()
        for _ in 1..<CallWatch.enough { watch.sawCode() }
        #expect(!watch.isComputing)
        watch.sawCode()
        #expect(watch.isComputing)
        watch.sawCode()
        #expect(watch.isComputing)
        watch.sawCall()
        #expect(!watch.isComputing)
    }

    @Test func aHandlerThatMetACallSaysSo() {
        var watch = CallWatch()
        for _ in 0..<CallWatch.enough {
            watch.saw(Self.registers(counter: 0x1000, behind: 0x2000), at: .now) { _ in [] }
        }
        #expect(watch.isComputing)
        watch.saw(Self.registers(counter: 0x1000, behind: 0x1000), at: .now) { _ in [] }
        #expect(!watch.isComputing)
    }

    /// With FRED rcx is left alone.
    @Test func aCallIsKnownByItsCode() {
        var watch = CallWatch()
        for _ in 0..<CallWatch.enough { watch.sawCode() }
        let registers = Self.registers(counter: 0x1000, behind: 0x2000)
        watch.saw(registers, at: .now) { _ in [0x90, 0x90] }
        #expect(watch.isComputing)
        watch.saw(registers, at: .now) { $0 == 0xFFE ? [0x0F, 0x05] : [] }
        #expect(!watch.isComputing)
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
        var watch = CallWatch()
        let now = MonotonicTime(nanoseconds: 5)
        #expect(!watch.mayMeetLongCall(at: now))
        watch.saw(registers, at: now) { _ in [] }
        #expect(watch.mayMeetLongCall(at: now + .milliseconds(999)) == isCut)
        #expect(!watch.mayMeetLongCall(at: now + .milliseconds(1000)))
        // In its own code a thread may hold any numbers.
        var other = CallWatch()
        registers[2] = 0x2000
        other.saw(registers, at: now) { _ in [] }
        #expect(!other.mayMeetLongCall(at: now))
    }

    /// Our own process, with such a file and without.
    @Test func filesWithoutEnd() async {
        await #expect(processExitsWith: .success) {
            func areOpen() -> Bool {
                var files = EndlessFiles(pid: getpid())
                return files.areOpen(at: .now)
            }
            let endless = ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"]
            // Whatever runs the tests may have left some. Others are those of the tests' own library,
            // which crashes without them.
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
        var files = EndlessFiles(pid: .max)
        let areOpen = files.areOpen(at: .now)
        #expect(!areOpen)
    }
}
