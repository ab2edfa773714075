import Architecture
import CSystem
import Glibc
import ProfileModel
import System
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Threads sampled by the kernel's events, where it permits that; and a made-up ring from which
/// they are read.
@Suite struct ThreadSamplesTests {
    private static let isPermitted: Bool = {
        let event = fl_open_samples(OwnSignposts.thread, 1_000_000, 4096, 1, 0)
        if event >= 0 { close(event) }
        return event >= 0
    }()

    /// Computes until samples come, bounded.
    private static func samples(
        of samples: ThreadSamples, atLeast count: Int
    ) -> [ThreadSamples.Observation] {
        var found: [ThreadSamples.Observation] = []
        var random = SeededNumbers(seed: 1)
        var sum: UInt64 = 0
        for _ in 0..<100_000 where found.count < count {
            for _ in 0..<2000 { sum &+= random.next() }
            found += samples.take()
        }
        return sum == 0 ? [] : found
    }

    @Test(
        .enabled(if: isPermitted || isContinuousIntegration, "perf events are not permitted here"),
        arguments: [
            0, 4096, 5000, 65536, Int.max,
        ])
    func ourOwnThread(stackBytes: Int) throws {
        let before = MonotonicTime.now
        let samples = try ThreadSamples(
            tid: OwnSignposts.thread, cpu: 1000, interval: 1_000_000, stackBytes: stackBytes)
        #expect(samples.stackBytes == min(max(stackBytes, 4096), 61440) / 8 * 8)
        let found = Self.samples(of: samples, atLeast: 12)
        #expect(found.count >= 12)
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        _ = watch.refreshed(at: .now)
        for (earlier, later) in zip(found, found.dropFirst()) {
            #expect(earlier.time < later.time && earlier.cpu < later.cpu)
        }
        // On a busy machine the kernel cannot read a stack now and then: three of twelve do.
        let whole = found.filter { !$0.stack.bytes.isEmpty }
        #expect(whole.count * 4 >= found.count)
        for seen in whole {
            #expect(seen.time >= before && seen.time <= .now && seen.cpu > 1000)
            #expect(seen.stack.start == seen.registers.stackPointer)
            #expect(seen.stack.bytes.count <= samples.stackBytes)
            #expect(seen.isCut == (seen.stack.bytes.count == samples.stackBytes))
            let isCode = watch.isCode(seen.registers.programCounter)
            let region = watch.region(around: seen.registers.stackPointer)
            #expect(isCode && region != nil)
            #expect((0..<Registers.count).allSatisfy { seen.registers[$0] != nil })
        }
        // Once the clock is known exactly, it stays.
        samples.calibrate(cpu: 1 << 40)
        samples.calibrate(cpu: 1 << 50)
        let later = Self.samples(of: samples, atLeast: 1)
        #expect(later.allSatisfy { $0.cpu < 1 << 41 && $0.cpu > 1 << 39 } && !later.isEmpty)
    }

    /// The kernel ends a thread's events with the thread. What they wrote before is still there.
    @Test(
        .enabled(if: isPermitted || isContinuousIntegration, "perf events are not permitted here"))
    func samplesOfAnEndedThreadAreKept() throws {
        let start = try Connection(isSocket: false)
        let count = "read x; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
        let child = try Child(["/bin/sh", "-c", count], input: start.ends[0])
        let samples = try ThreadSamples(
            tid: child.pid, cpu: 0, interval: 1_000_000, stackBytes: 4096)
        #expect(!samples.hasEnded)
        #expect(write(start.ends[1], "\n", 1) == 1)
        #expect(child.end() == 0)
        #expect(!samples.hasEnded)
        #expect(!samples.take().isEmpty)
        #expect(samples.hasEnded)
    }

    @Test func threadsThatAreNotThere() {
        for tid in [Int32.max, -1, .min] {
            let samples = try? ThreadSamples(
                tid: tid, cpu: 0, interval: 1_000_000, stackBytes: 4096)
            // -1 would be any thread, which only root may ask for.
            #expect(samples == nil || tid == -1)
        }
    }

    /// A thread that has ended, or a shortage, says nothing about the others.
    @Test func aRefusalForOneThreadMeansNothingForOthers() {
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        func mayBeTried(after code: Int32, milliseconds: Int64) -> Bool {
            var events = EventAvailability()
            events.failed(SystemError("", code: code), at: now)
            return events.mayBeTried(at: now + .milliseconds(milliseconds))
        }
        #expect(EventAvailability().mayBeTried(at: now))
        #expect(mayBeTried(after: ESRCH, milliseconds: 0))
        for code in [EMFILE, ENFILE, ENOMEM, EAGAIN] {
            let isAtOnce = mayBeTried(after: code, milliseconds: 99)
            let isLater = mayBeTried(after: code, milliseconds: 100)
            #expect(!isAtOnce && isLater)
        }
        for code in [EPERM, EACCES, ENOSYS, EINVAL, EOPNOTSUPP] {
            let isLater = mayBeTried(after: code, milliseconds: 1_000_000)
            #expect(!isLater)
        }
    }

    // MARK: The ring

    /// A ring that the test makes itself.
    private final class MadeRing {
        let ring: PerfRing
        private let memory: UnsafeMutableRawPointer
        private let size: Int
        // Of struct perf_event_mmap_page.
        static let headOffset = 1024
        static let tailOffset = 1032

        init(pages: Int) throws {
            size = (pages + 1) * 4096
            let descriptor = fl_make_memory("ring", size)
            try #require(descriptor >= 0)
            memory = try #require(fl_map_memory(descriptor, size))
            ring = try PerfRing(copying: descriptor, pages: pages)
        }

        deinit { munmap(memory, size) }

        func set(head: UInt64? = nil, tail: UInt64? = nil) {
            if let head {
                memory.storeBytes(of: head, toByteOffset: Self.headOffset, as: UInt64.self)
            }
            if let tail {
                memory.storeBytes(of: tail, toByteOffset: Self.tailOffset, as: UInt64.self)
            }
        }

        var head: UInt64 { memory.load(fromByteOffset: Self.headOffset, as: UInt64.self) }
        var tail: UInt64 { memory.load(fromByteOffset: Self.tailOffset, as: UInt64.self) }

        /// As the kernel writes: round and round. false: there is no room.
        func write(_ record: [UInt8]) -> Bool {
            let room = size - 4096 - Int(head &- tail)
            guard record.count <= room else { return false }
            for (index, byte) in record.enumerated() {
                let place = Int((head &+ UInt64(index)) % UInt64(size - 4096))
                memory.storeBytes(of: byte, toByteOffset: 4096 + place, as: UInt8.self)
            }
            set(head: head &+ UInt64(record.count))
            return true
        }
    }

    private static func record(_ number: Int32, padding: Int) -> [UInt8] {
        let body = bytes(of: number) + [UInt8](repeating: 0xEE, count: padding)
        return bytes(of: UInt32(9)) + bytes(of: UInt16(0)) + bytes(of: UInt16(8 + body.count))
            + body
    }

    @Test(arguments: 0..<20) func everyRecordComesOnce(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let made = try MadeRing(pages: 1 << Int.random(in: 0...2, using: &random))
        // Wherever it stands.
        let start = random.next() / 4096 * 4096
        made.set(head: start, tail: start)
        var sent: [Int32] = []
        var found: [Int32] = []
        for number in 0..<500 as Range<Int32> {
            let padding = 4 + 8 * Int.random(in: 0...100, using: &random)
            if made.write(Self.record(number, padding: padding)) { sent.append(number) }
            if Int.random(in: 0..<4, using: &random) == 0 {
                made.ring.forEach { record in
                    found += [record.number(at: 0, as: Int32.self) ?? -1]
                }
                #expect(made.tail == made.head)
            }
        }
        made.ring.forEach { found += [$0.number(at: 0, as: Int32.self) ?? -1] }
        #expect(found == sent)
    }

    /// Counts that the kernel would never have.
    @Test(
        arguments: [
            (0, 0), (1, 0), (0, 1), (.max, 0), (0, .max), (.max, .max - 7), (1 << 63, 1),
            (4096, 4095),
        ] as [(UInt64, UInt64)])
    func impossibleCounts(head: UInt64, tail: UInt64) throws {
        let made = try MadeRing(pages: 2)
        _ = made.write([UInt8](repeating: 0xFF, count: 8192))
        made.set(head: head, tail: tail)
        var count = 0
        made.ring.forEach { _ in count += 1 }
        #expect(count == 0)
        #expect(made.tail == head)
    }

    @Test func aDescriptorThatIsNoRing() {
        #expect(throws: SystemError.self) { try PerfRing(copying: -1, pages: 1) }
        #expect(throws: SystemError.self) { try PerfRing(descriptor: -13, pages: 1) }
    }

    // MARK: What a sample's fields are read with

    /// For any length of a record, and any field.
    @Test(arguments: 0..<64) func fieldsWithinARecord(length: Int) throws {
        let body = (0..<length).map { UInt8($0) }
        let all =
            bytes(of: UInt32(9)) + bytes(of: UInt16(0)) + bytes(of: UInt16(8 + length)) + body
            + Self.record(5, padding: 0)
        try all.withUnsafeBytes { all in
            var found: [PerfRecords.Record] = []
            #expect(PerfRecords.forEach(in: all) { found.append($0) } == all.count)
            let record = try #require(found.first)
            #expect(found.count == 2)
            #expect(found[1].number(at: 0, as: Int32.self) == 5)
            for offset in [Int.min, -1, .max, .max - 7] + Array(0...(length + 8)) {
                let isWithin = offset >= 0 && offset <= length - 8
                let word = record.number(at: offset, as: UInt64.self)
                #expect((word != nil) == isWithin)
                if isWithin {
                    #expect(word == Array(body[offset..<(offset + 8)]).littleEndianWord(at: 0))
                }
                for count in [Int.min, -1, 0, 1, 8, 64, .max] {
                    let read = record.bytes(at: offset, count: count)
                    let rest = offset >= 0 && offset < length ? length - offset : 0
                    #expect(read.count == min(max(0, count), rest))
                    #expect(read.isEmpty || read == Array(body[offset..<(offset + read.count)]))
                }
            }
        }
    }
}
