import Testing

@testable import PerfData

/// Which events are one clock together.
@Suite struct ComplementTests {
    private func event(
        _ type: UInt32 = 1, _ config: UInt64 = 0, excluding bits: UInt64 = 0, name: String = ""
    ) throws -> PerfEvent {
        var bytes = PerfWriter.bytes(type) + PerfWriter.bytes(64 as UInt32)
        bytes += PerfWriter.words(config, 1_000_000, 0, 0, bits << 4, 0, 0)
        bytes += [UInt8](repeating: 0, count: 64)
        var event = try #require(PerfEvent(ByteReader(bytes)))
        event.name = name
        return event
    }

    /// Bits: 1 without the program's code, 2 without the kernel's, 4 without the hypervisor's.
    @Test func theProgramsAndTheKernels() throws {
        let (user, kernel) = (try event(excluding: 0b110), try event(excluding: 0b101))
        #expect(user.modes == .user && kernel.modes == .kernel)
        #expect(user.isComplement(of: kernel) && kernel.isComplement(of: user))
        // Both count at the same time, or something else.
        #expect(try !user.isComplement(of: user) && !event().isComplement(of: kernel))
        // Two clocks count the same: each counts time.
        #expect(try event(1, 1, excluding: 0b101).isComplement(of: user))
        #expect(try !event(1, 1).isComplement(of: user))
        #expect(try !event(1, 2, excluding: 0b101).isComplement(of: user))
    }

    @Test func eventsThatMeasureTime() throws {
        // cpu-clock, task-clock, cycles, a core's own
        for (type, config) in [(1, 0), (1, 1), (0, 0), (4, 0x3C)] as [(UInt32, UInt64)] {
            #expect(try event(type, config).mayMeasureTime)
        }
        // page-faults, context-switches, dummy, a tracepoint, a breakpoint
        for (type, config) in [(1, 2), (1, 3), (1, 9), (2, 300), (5, 0)] as [(UInt32, UInt64)] {
            #expect(try !event(type, config).mayMeasureTime)
        }
    }

    @Test func kindsOfCores() throws {
        let core = try event(4, 0x3C, name: "cpu_core/cycles/u")
        let atom = try event(10, 0x3C, name: "cpu_atom/cycles/u")
        #expect(core.isComplement(of: atom) && core.displayName == "cpu_core/cycles")
        #expect(try !core.isComplement(of: event(10, 0xC0, name: "cpu_atom/instructions/u")))
        #expect(try event(0, 4 << 32).isComplement(of: event(0, 10 << 32)))
        #expect(try !event(0, 4 << 32).isComplement(of: event(0, 10 << 32 | 1)))
    }
}
