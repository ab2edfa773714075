import Glibc
import ProfileModel
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
            watch.saw(Self.registers(counter: 0x1000, behind: 0x2000))
        }
        #expect(watch.isComputing)
        watch.saw(Self.registers(counter: 0x1000, behind: 0x1000))
        #expect(!watch.isComputing)
    }

    /// Our own process, with such a file and without.
    @Test func filesWithoutEnd() async {
        await #expect(processExitsWith: .success) {
            func areOpen() -> Bool {
                var files = EndlessFiles(pid: getpid())
                return files.areOpen(at: .now)
            }
            // Whatever runs the tests may have left some.
            for descriptor in 3..<1024 as Range<Int32> { close(descriptor) }
            for descriptor in 0...2 as ClosedRange<Int32> {
                let nothing = open("/dev/null", O_RDWR)
                dup2(nothing, descriptor)
            }
            #expect(!areOpen())
            for path in ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"] {
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
