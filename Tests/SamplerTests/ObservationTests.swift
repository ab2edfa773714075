import Architecture
import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Samples as the kernel writes them, byte by byte.
@Suite struct ObservationTests {
    /// pid, tid, time, core, count, the kernel's part, the registers' kind.
    private static func body(
        kind: UInt64 = 2, size: UInt64 = 64, stack: Int = 64, copied: UInt64? = 40,
        count: Int64 = 500, chain: [UInt64] = []
    ) -> [UInt8] {
        var body = bytes(of: Int32(7)) + bytes(of: Int32(8)) + bytes(of: Int64(1000))
        body += bytes(of: UInt64(3)) + bytes(of: count)
        body += bytes(of: UInt64(chain.count)) + chain.flatMap { bytes(of: $0) }
        body += bytes(of: kind)
        if kind != 0 { body += (0..<17).flatMap { bytes(of: UInt64(100 + $0)) } }
        body += bytes(of: size) + (0..<stack).map { UInt8(truncatingIfNeeded: $0) }
        if let copied { body += bytes(of: copied) }
        return body
    }

    private static func observations(
        _ body: [UInt8], base: Int64 = 10, mode: UInt16 = 1
    ) -> [ThreadSamples.Observation] {
        let record =
            bytes(of: UInt32(9)) + bytes(of: mode)
            + bytes(of: UInt16(clamping: 8 + body.count)) + body
        var found: [ThreadSamples.Observation] = []
        record.withUnsafeBytes { bytes in
            _ = PerfRecords.forEach(in: bytes) { record in
                let count = record.number(at: 24, as: Int64.self) ?? 0
                let seen = ThreadSamples.observation(record, cpu: base &+ count, chainAt: 32)
                if let seen { found.append(seen) }
            }
        }
        return found
    }

    @Test func fieldsOfASample() throws {
        let seen = try #require(Self.observations(Self.body()).first)
        #expect(seen.time.nanoseconds == 1000 && seen.cpu == 510 && !seen.isCut)
        // ax bx cx dx si di bp sp ip r8 … r15, by their DWARF numbers.
        let order = [0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15]
        #expect(order.map { seen.registers[$0] } == (0..<17).map { UInt64(100 + $0) })
        #expect(seen.stack.start == 107)
        #expect(seen.stack.bytes == (0..<40).map { UInt8($0) })
        #expect(try #require(Self.observations(Self.body(copied: 64)).first).isCut)
    }

    /// The part that the kernel could not copy lies behind the copied part; at the end of all
    /// addresses there is nothing.
    @Test func theMissingPartOfACopy() throws {
        let seen = try #require(Self.observations(Self.body()).first)
        #expect(seen.missing == 147..<171)
        #expect(try #require(Self.observations(Self.body(copied: 64)).first).missing.isEmpty)
        #expect(try #require(Self.observations(Self.body(copied: 0)).first).missing == 107..<171)
        #expect(ThreadSamples.missing(64, from: .max - 8).isEmpty)
    }

    @Test func whereItIsInTheKernel() throws {
        // PERF_CONTEXT_KERNEL is no address.
        let body = Self.body(chain: [UInt64(bitPattern: -128), 1 << 63, 1 << 63 | 16])
        let seen = try #require(Self.observations(body).first)
        let chain: [UInt64] = [1 << 63, 1 << 63 | 16]
        #expect(seen.kernelChain == chain)
        #expect(seen.isInKernel)
        #expect(seen.registers[0] == 100 && seen.stack.bytes.count == 40)
        // PERF_RECORD_MISC_USER: the kernel's own part of the chain is not the thread's.
        #expect(try #require(Self.observations(body, mode: 2).first).kernelChain.isEmpty)
    }

    @Test(arguments: [20, 8193, 1 << 60, .max] as [UInt64])
    func chainsThatCannotBe(count: UInt64) {
        var body = Self.body()
        body.replaceSubrange(32..<40, with: bytes(of: count))
        #expect(Self.observations(body).isEmpty)
    }

    @Test func atEveryLength() {
        let whole = Self.body(chain: [1 << 63])
        for length in 0..<whole.count {
            #expect(Self.observations(Array(whole.prefix(length))).isEmpty, "\(length)")
        }
        #expect(Self.observations(whole).count == 1)
        #expect(Self.observations(whole + [1, 2, 3]).count == 1)
    }

    @Test func withoutRegistersThereIsNothing() {
        #expect(Self.observations(Self.body(kind: 0)).isEmpty)
        #expect(Self.observations(Self.body(kind: 0, size: 0, stack: 0, copied: nil)).isEmpty)
        // Of a program of 32 bits.
        #expect(Self.observations(Self.body(kind: 1)).count == 1)
    }

    @Test func withoutAStack() throws {
        let body = Self.body(size: 0, stack: 0, copied: nil)
        let seen = try #require(Self.observations(body).first)
        #expect(seen.stack.bytes.isEmpty)
        #expect(!seen.isCut)
    }

    @Test(
        arguments: [
            (64, 65), (64, .max), (64, 1 << 63), (65, 40), (1 << 16, 40), (65535, 40), (.max, 40),
            (1 << 63, 40), (.max - 200, 0),
        ] as [(UInt64, UInt64)])
    func sizesThatCannotBe(size: UInt64, copied: UInt64) {
        #expect(Self.observations(Self.body(size: size, copied: copied)).isEmpty)
    }

    @Test func nothingWasCopied() throws {
        let seen = try #require(Self.observations(Self.body(copied: 0)).first)
        #expect(seen.stack.bytes.isEmpty && !seen.isCut)
    }

    @Test func theClockWraps() throws {
        let seen = Self.observations(Self.body(count: .max), base: .max)
        #expect(seen.map(\.cpu) == [-2])
    }

    @Test(arguments: 0..<300) func damagedSamples(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for seen in Self.observations(random.mutated(Self.body()), base: Int64(seed)) {
            #expect(seen.stack.bytes.count < 1 << 16)
        }
    }
}
