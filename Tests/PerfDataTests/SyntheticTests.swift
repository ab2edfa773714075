import Architecture
import Glibc
import PerfData
import ProfileModel
import TestSupport
import Testing

/// Files that no perf made.
struct SyntheticTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private struct Outcome {
        var records: [PerfRecord] = []
        var error: PerfDataError?
    }

    /// Of a file with these bytes.
    private func path(of bytes: [UInt8]) -> String {
        #expect(throws: Never.self) { try scratch.write(bytes, to: "perf.data") }
        return scratch.path("perf.data")
    }

    private func read(_ bytes: [UInt8]) -> Outcome {
        var outcome = Outcome()
        let path = path(of: bytes)
        do throws(PerfDataError) {
            let file = try PerfFile(path: path)
            while let record = try file.next() { outcome.records.append(record) }
        } catch {
            outcome.error = error
        }
        return outcome
    }

    private func kinds(_ records: [PerfRecord]) -> [String] {
        records.map { String("\($0.body)".prefix { $0 != "(" }) }
    }

    @Test func `every kind of record is read, in the order of time`() throws {
        let outcome = read(PerfWriter.everything().file())
        #expect(outcome.error == nil)
        let times = outcome.records.compactMap(\.time?.nanoseconds)
        #expect(times == times.sorted())
        #expect(
            kinds(outcome.records).filter { $0 != "buildID" } == [
                "name", "mapping", "fork", "sample", "sample", "left", "arrived", "left", "lost",
                "lost", "throttled", "exit",
            ])
        #expect(outcome.records.contains { if case .buildID = $0.body { true } else { false } })
    }

    /// As `perf record --threads` writes it: one file has the header, and each thread's has records only.
    @Test func `a folder is read as one recording`() throws {
        var (main, first, second) = (PerfWriter(), PerfWriter(), PerfWriter())
        main.addName(10, 10, "program", time: 1000, misc: 1 << 13)
        for time: UInt64 in [2000, 4000, 6000] { first.addSample(10, 10, time: time) }
        first.addRound()
        for time: UInt64 in [1500, 5000] { second.addSample(10, 11, time: time) }
        let files = [
            "data": main.file(), "data.0": first.data, "data.1": second.data,
            "data.2": Array(first.data.dropLast(12)),
        ]
        for (name, bytes) in files { try scratch.write(bytes, to: name) }
        let file = try PerfFile(path: scratch.folder)
        var records: [PerfRecord] = []
        #expect(throws: PerfDataError.self) {
            while let record = try file.next() { records.append(record) }
        }
        #expect(
            records.compactMap { $0.time?.nanoseconds } == [
                1000, 1500, 2000, 2000, 4000, 4000, 5000, 6000,
            ])
        #expect(try file.next() == nil)
    }

    @Test func `a sample has what was written`() throws {
        var writer = PerfWriter()
        let marker = UInt64(bitPattern: -512)
        writer.addSample(
            10, 11, time: 5, chain: [UInt64(bitPattern: -128), 9, marker, 1, 2], stack: [3, 4, 5],
            valid: 16)
        let record = try #require(read(writer.file()).records.first)
        guard case .sample(let sample) = record.body else {
            Issue.record("no sample")
            return
        }
        #expect(record.time?.nanoseconds == 5)
        #expect((sample.pid, sample.tid) == (10, 11))
        #expect(sample.instruction == 0x4000)
        #expect(sample.period == 1_000_000)
        #expect(sample.cpu == 3)
        #expect(sample.userCallchain == [1, 2])
        #expect(sample.kernelCallchain == [9])
        let snapshot = try #require(sample.snapshot)
        // Of three words the kernel had copied two.
        #expect(snapshot.stack.bytes == PerfWriter.words(3, 4))
        #expect(snapshot.stack.start == 107)
        // perf's order is AX BX CX DX SI DI BP SP IP FLAGS CS SS R8 …
        let expected: [(Int, UInt64)] = [
            (0, 100), (3, 101), (2, 102), (1, 103), (4, 104), (5, 105), (6, 106), (7, 107),
            (16, 108), (8, 112), (15, 119),
        ]
        for (number, value) in expected { #expect(snapshot.registers[number] == value) }
    }

    @Test func `without a call chain the kernel's part is where the sample was`() throws {
        var writer = PerfWriter()
        writer.addSample(10, 11, time: 5)
        let record = try #require(read(writer.file()).records.first)
        guard case .sample(var sample) = record.body else {
            Issue.record("no sample")
            return
        }
        (sample.snapshot, sample.instruction, sample.isKernel) = (nil, 1 << 63, true)
        #expect(sample.kernelCallchain == [1 << 63])
        #expect(sample.userCallchain.isEmpty)
        sample.isKernel = false
        #expect(sample.kernelCallchain.isEmpty)
        // What leads from the program to there is not known, but where it was is.
        sample.isKernel = true
        sample.snapshot = Snapshot(
            registers: Registers(), stack: StackCopy(start: 0, bytes: []))
        #expect(sample.kernelCallchain == [1 << 63])
        // PERF_CONTEXT_GUEST_KERNEL is another machine's.
        sample.callchain = [UInt64(bitPattern: -2176), 5, UInt64(bitPattern: -128), 6]
        #expect(sample.kernelCallchain == [6])
    }

    @Test func `parts before the stack are read or passed over`() throws {
        var writer = PerfWriter()
        // Also IDENTIFIER, ADDR, READ (a group), RAW and BRANCH_STACK.
        writer.sampleType |= 1 << 16 | 1 << 3 | 1 << 4 | 1 << 10 | 1 << 11
        writer.readFormat = 1 | 4 | 8
        writer.branchType = 1 << 17
        let w = PerfWriter.words
        var body = w(7, 0x4000) + PerfWriter.pair(10, 11) + w(5, 0xAD) + w(1, 1000)
        body += w(2, 77) + w(1, 7, 2, 8)
        body += w(0)
        body += PerfWriter.bytes(4 as UInt32) + [1, 2, 3, 4]
        body += w(1, 0) + w(1, 2, 3)
        body += w(2) + (0..<20).flatMap { PerfWriter.bytes(UInt64(100 + $0)) }
        body += w(8, 0x55, 8)
        writer.add(9, body)
        let outcome = read(writer.file())
        #expect(outcome.error == nil)
        guard case .sample(let sample) = outcome.records.first?.body else {
            Issue.record("no sample")
            return
        }
        #expect(sample.raw == [1, 2, 3, 4])
        #expect(sample.counts == [.init(id: 7, value: 1), .init(id: 8, value: 2)])
        #expect(sample.snapshot?.stack.bytes == w(0x55))
    }

    @Test func `a round sorts what came before the one before`() {
        var writer = PerfWriter()
        for time: UInt64 in [30, 10] { writer.addSample(1, 1, time: time) }
        writer.addRound()
        for time: UInt64 in [20, 50, 40] { writer.addSample(1, 1, time: time) }
        writer.addRound()
        writer.addSample(1, 1, time: 45)
        let times = read(writer.file()).records.compactMap(\.time?.nanoseconds)
        #expect(times == [10, 20, 30, 40, 45, 50])
    }

    @Test(arguments: [
        ("other order", PerfDataError.Kind.foreignByteOrder, Array("PERFILE2".utf8.reversed())),
        ("old", .oldFormat, Array("PERFFILE".utf8)),
        ("other", .notPerfData, Array("SQLite f".utf8)),
        ("empty", .notPerfData, []),
    ])
    func `what is none of perf's files is refused`(
        name: String, kind: PerfDataError.Kind, start: [UInt8]
    ) {
        let rest = start.isEmpty ? [] : PerfWriter().file().dropFirst(8)
        #expect(read(start + rest).error?.kind == kind)
    }

    @Test func `a file that perf could not finish is read to its end`() throws {
        var bytes = PerfWriter.everything().file()
        let whole = read(bytes).records.count
        // The size of the data.
        bytes.replaceSubrange(48..<56, with: [UInt8](repeating: 0, count: 8))
        let outcome = read(bytes)
        #expect(outcome.records.count == whole)
        #expect(try PerfFile(path: path(of: bytes)).isUnfinished)
    }

    @Test func `a file cut at any byte gives what came before, and where it ends`() {
        let bytes = PerfWriter.everything().file()
        let whole = kinds(read(bytes).records)
        for size in 0..<bytes.count {
            let outcome = read(Array(bytes.prefix(size)))
            #expect(outcome.records.count <= whole.count)
            guard let error = outcome.error else {
                Issue.record("no error at \(size) bytes")
                continue
            }
            #expect(error.offset <= UInt64(size))
        }
    }

    @Test(arguments: ["dwarf", "compressed", "switches", "pipe", "build-ids"])
    func `a damaged file ends in an error at most`(name: String) throws {
        let bytes = try Files.bytes(Files.path(name + ".data"))
        var numbers = SeededNumbers(seed: 11)
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                let place = Int.random(in: damaged.indices, using: &numbers)
                damaged[place] = UInt8.random(in: 0...255, using: &numbers)
            }
            let outcome = read(damaged)
            #expect(outcome.records.count < 100_000)
        }
    }

    @Test func `damaged records end in an error at most`() {
        let bytes = PerfWriter.everything().file()
        var numbers = SeededNumbers(seed: 5)
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] =
                [0, 0xFF, 0x80, UInt8.random(in: 0...255, using: &numbers)]
                .randomElement(using: &numbers) ?? 0
            #expect(read(damaged).records.count < 1000)
        }
    }

    @Test func `nothing but a regular file is opened`() {
        #expect(throws: PerfDataError(path: "/tmp", kind: .notAFile)) {
            try PerfFile(path: "/tmp")
        }
        #expect(throws: PerfDataError(path: "/no/such", kind: .cannotOpen(errno: ENOENT))) {
            try PerfFile(path: "/no/such")
        }
    }
}
