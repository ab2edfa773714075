import Glibc
import PerfData
import ProfileModel
import Recording
import TestSupport
import Testing

@testable import Importer
@testable import PerfData

/// Stored files of perf's, imported on whatever machine this is: their programs may be missing.
final class PerfImportTests {
    private let scratch: Scratch
    private var output: String { scratch.path("recording") }

    init() throws { scratch = try Scratch() }

    private func stored(_ name: String, from file: String = #filePath) -> String {
        let tests = file.split(separator: "/").dropLast(2).joined(separator: "/")
        return "/\(tests)/PerfDataTests/Files/\(name)"
    }

    private func imported(_ input: String, pid: Int32? = nil) throws -> Recording {
        let result = try PerfImport(
            input: input, output: output, pid: pid, version: "1"
        ).run()
        #expect(result.damage == nil)
        defer { unlink(output) }
        return try RecordingReader.load(path: output)
    }

    private func value(_ recording: Recording, _ kind: RecorderNote.Kind) -> Int64? {
        recording.notes.first { $0.kind == kind }?.value
    }

    @Test func `each sample is its period of running time`() throws {
        let recording = try imported(stored("dwarf.data"))
        let period: Int64 = 20_408_163
        #expect(recording.header.capture == .perf)
        #expect(recording.header.importSource == "cpu-clock at 49 Hz, --call-graph dwarf,512")
        #expect(recording.header.frequency == 49)
        #expect(Int(recording.header.ticks) == recording.slices.count)
        #expect(recording.slices.count > 10)
        for slice in recording.slices {
            #expect(slice.times.wall == slice.times.running)
            #expect(slice.times.running.nanoseconds <= 2 * period)
        }
        #expect(recording.threads.count == 2)
        #expect(recording.threads.map(\.isMain) == [true, false])
        #expect(recording.threads.allSatisfy { $0.name == "groundtruth" && $0.end != nil })
        #expect(recording.images.count == 1)
        #expect(recording.images.first?.path.hasSuffix("/groundtruth") == true)
        #expect(
            recording.borders.map(\.kind) == [.spawned, .firstInstruction, .ended])
        #expect(recording.modules.contains { $0.path.hasSuffix("/groundtruth") })
        #expect(recording.runs.isEmpty)
    }

    /// The recording of process 7, from records of the stored file's clock.
    private func made(_ records: [(time: Int64, body: PerfRecord.Body)]) throws -> Recording {
        let path = stored("dwarf.data")
        var choice = try ProcessChoice(nil, in: try PerfFile(path: path), path: path)
        (choice.pid, choice.lineage) = (7, [7])
        let file = try PerfFile(path: path)
        let writer = ImportWriter(
            path: output,
            header: Recording.Header(pid: 7, isAttached: false, capture: .perf, frequency: 49))
        var process = ImportedProcess(choice, TimeEvent(file), file, writer)
        for (time, body) in records {
            try process.take(PerfRecord(time: MonotonicTime(nanoseconds: time), body: body))
        }
        try writer.finish(try process.finish()) { _ in }
        defer { unlink(output) }
        return try RecordingReader.load(path: output)
    }

    private func sample(of tid: Int32, period: UInt64) -> PerfRecord.Body {
        .sample(
            PerfSample(
                event: 0, pid: 7, tid: tid, instruction: 0x1000, isKernel: false, cpu: nil,
                period: period, snapshot: nil, callchain: [], raw: []))
    }

    /// What the kernel does for a thread's end comes behind perf's record of it, and is the thread's.
    @Test func `samples behind a thread's end are its own`() throws {
        let recording = try made([
            (1000, .name(pid: 7, tid: 7, name: "short", isExec: true)),
            (1500, .fork(pid: 7, parent: 7, tid: 8, parentThread: 7)),
            (2000, sample(of: 8, period: 400)), (2100, .exit(pid: 7, tid: 8)),
            (2600, sample(of: 8, period: 500)),
            // Another thread with its id.
            (3000, .fork(pid: 7, parent: 7, tid: 8, parentThread: 7)),
            (3500, sample(of: 8, period: 300)), (3600, .exit(pid: 7, tid: 8)),
            (4000, .exit(pid: 7, tid: 7)), (4900, sample(of: 7, period: 900)),
        ])
        #expect(recording.threads.map(\.tid) == [7, 8, 8])
        #expect(recording.threads.map { $0.end?.nanoseconds } == [4900, 2600, 3600])
        let running = recording.slices.map(\.times.running.nanoseconds)
        #expect(running == [400, 500, 300, 900])
        #expect(recording.slices.map(\.thread.rawValue) == [1, 1, 2, 0])
        #expect(recording.borders.last?.time.nanoseconds == 4900)
    }

    /// A period of a core's may have begun before the thread did: nothing of perf's totals is lost.
    @Test func `a thread is no shorter than its first sample`() throws {
        let recording = try made([
            (5000, .fork(pid: 7, parent: 1, tid: 7, parentThread: 1)),
            (5100, .name(pid: 7, tid: 7, name: "short", isExec: true)),
            (5300, sample(of: 7, period: 900)),
            (5500, .fork(pid: 7, parent: 7, tid: 8, parentThread: 7)),
            (5600, sample(of: 8, period: 900)), (5700, .exit(pid: 7, tid: 8)),
        ])
        #expect(recording.slices.map(\.times.running.nanoseconds) == [900, 900])
        #expect(recording.threads.map(\.start.nanoseconds) == [4400, 4700])
        #expect(recording.borders.first?.time.nanoseconds == 4400)
    }

    /// Of a group whose leader alone is sampled, each sample tells how far its clock has come.
    @Test(arguments: [false, true]) func `clocks of groups`(isInherited: Bool) throws {
        var clock = try #require(try PerfFile(path: stored("dwarf.data")).events.first)
        #expect(clock.isClock && GroupCounts([clock]) == nil)
        clock.sampleType.insert(.read)
        clock.readFormat = 0b1100
        clock.ids = [5, 6]
        clock.isInherited = isInherited
        var counts = try #require(GroupCounts([clock]))
        func cpu(of tid: Int32, _ told: [(id: UInt64, value: UInt64)]) -> UInt64? {
            var sample = PerfSample(
                event: 3, pid: 7, tid: tid, instruction: 0, isKernel: false, cpu: nil, period: 1,
                snapshot: nil, callchain: [], raw: [])
            sample.counts = told.map { PerfSample.Count(id: $0.id, value: $0.value) }
            return counts.cpu(since: sample)
        }
        #expect(cpu(of: 7, [(5, 400), (9, 3)]) == 400)
        #expect(cpu(of: 8, [(5, 500)]) == (isInherited ? 500 : 100))
        #expect(cpu(of: 7, [(5, 900), (6, 20)]) == (isInherited ? 520 : 420))
        // It never counts backwards, but in a damaged file.
        #expect(cpu(of: 7, [(5, 0)]) == 0)
        #expect(cpu(of: 7, [(5, .max), (6, .max)]) != nil)
        #expect(cpu(of: 7, [(9, 4)]) == nil && cpu(of: 7, []) == nil)
    }

    @Test func `compressed is the same`() throws {
        let recording = try imported(stored("compressed.data"))
        #expect(Int(recording.header.ticks) == recording.slices.count)
        #expect(recording.slices.count > 10)
    }

    @Test func `records of switches tell what threads did`() throws {
        let recording = try imported(stored("switch-records.data"))
        #expect(recording.header.account == .switches)
        #expect(!recording.runs.isEmpty)
        // groundtruth sleeps for 150 ms, and waits for its thread.
        let blocked = recording.slices.map(\.times.blocked.nanoseconds).max() ?? 0
        #expect(blocked > 100_000_000)
        #expect(value(recording, .estimatedWaits) == nil)
        // A thread's time is tiled.
        for thread in recording.threads.indices {
            let slices = recording.slices.filter { $0.thread.rawValue == thread }
            for (one, next) in zip(slices, slices.dropFirst()) { #expect(one.end == next.start) }
        }
    }

    @Test func `tracepoints of switches tell where threads waited`() throws {
        let recording = try imported(stored("switches.data"))
        let waits = recording.slices.filter { $0.times.blocked > .milliseconds(100) }
        #expect(!waits.isEmpty)
        #expect(recording.header.account == nil)
    }

    @Test func `the process that perf started is taken, or another`() throws {
        // The shell only waits for its child: there is no sample of it, but a hint.
        let error = #expect(throws: ImportError.self) {
            try self.imported(self.stored("pipe.data"))
        }
        guard case .noSamples(_, _, let busiest?) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(access(output, F_OK) != 0)
        let child = try imported(stored("pipe.data"), pid: busiest)
        #expect(child.header.pid == busiest)
        #expect(child.images.first?.path.hasSuffix("/spin") == true)
        // It was forked before it executed spin.
        let borders = child.borders
        #expect(borders.first?.kind == .spawned)
        #expect(borders[0].time < borders[1].time)
    }

    @Test func `frame pointers' stacks are taken as they are`() throws {
        let recording = try imported(stored("frame-pointers.data"))
        #expect(value(recording, .unverifiedStacks) == Int64(recording.slices.count))
        #expect(recording.slices.allSatisfy { $0.stack != nil })
    }

    @Test func `the kernel's frames are what the program called`() throws {
        let recording = try imported(stored("build-ids.data"))
        let kernel = try #require(recording.modules.firstIndex { $0.path == "[kernel]" })
        let digits = recording.modules[kernel].buildID.map {
            ($0 < 16 ? "0" : "") + String($0, radix: 16)
        }
        #expect(digits.joined() == "e4f18d9dc1d0e6fc2b17e93e885a647b3c0a6fc1")
        let mapping = try #require(recording.mappings.first { $0.module.rawValue == kernel })
        #expect(mapping.start == 0xffff_ffff_8100_0000 && mapping.bias == mapping.start)
        #expect(mapping.end == 0xffff_ffff_8220_90c8)
        var deepest = 0
        for slice in recording.slices {
            guard let stack = slice.stack else { continue }
            let modules = recording.stacks.frames(of: stack).map { $0.module?.rawValue }
            guard let first = modules.firstIndex(of: kernel) else { continue }
            // From there on, all are.
            #expect(modules[first...].allSatisfy { $0 == kernel })
            deepest = max(deepest, modules.count - first)
        }
        #expect(deepest > 1)
    }

    @Test func `without frames in it, the kernel is no module`() throws {
        let recording = try imported(stored("frame-pointers.data"))
        #expect(!recording.modules.contains { Module.isKernel($0.path) })
    }

    @Test(
        arguments: [
            ("[kernel.kallsyms]_text", "[kernel]"), ("[kernel.kallsyms]", "[kernel]"),
            ("[kernel.vmlinux]_stext", "[kernel]"), ("[nf_tables]", "[kernel:nf_tables]"),
            ("/lib/modules/6.1/kernel/net/x-y.ko.xz", "[kernel:x_y]"),
            ("/lib/modules/6.1/extra/z.ko", "[kernel:z]"), ("[guest.kernel.kallsyms]_text", nil),
            ("/usr/lib/libx.so", nil), ("", nil), ("[", nil),
        ] as [(String, String?)])
    func `perf has other names for the kernel's code`(perfs: String, ours: String?) {
        #expect(PerfMapping.kernelPath(perfs) == ours)
        let start: UInt64 = 0xffff_ffff_8100_0000
        let mapping = PerfMapping(
            pid: -1, start: start, end: start + 4096, fileOffset: 0, path: perfs,
            isExecutable: false, isKernel: true)
        #expect(mapping.kernelCode?.path == ours)
        #expect(mapping.kernelCode.map(\.isExecutable) ?? true)
        #expect(mapping.kernelCode.map { $0.start &- $0.fileOffset == start } ?? true)
    }

    @Test func `the kernel's addresses count from where perf says that _text is`() {
        let start: UInt64 = 0xffff_ffff_8100_0000
        var mapping = PerfMapping(
            pid: -1, start: start, end: start + 4096, fileOffset: start - 0x1000,
            path: "[kernel.kallsyms]_text", isKernel: true)
        #expect(mapping.kernelCode?.fileOffset == 0x1000)
        // perf was not told.
        mapping.start = 0
        #expect(mapping.kernelCode == nil)
        mapping.start = start
        mapping.isKernel = false
        #expect(mapping.kernelCode == nil)
    }

    @Test func `a damaged file's beginning is kept`() throws {
        let whole = bytes(of: stored("dwarf.data"))
        let input = scratch.path("input")
        let descriptor = open(input, O_CREAT | O_WRONLY, 0o600)
        // In the middle of the samples.
        _ = whole.withUnsafeBytes { write(descriptor, $0.baseAddress, whole.count / 2) }
        close(descriptor)
        let result = try PerfImport(input: input, output: output, pid: nil, version: "1").run()
        // Where the record begins that is not whole.
        let offset = try #require(result.damage?.offset)
        #expect(offset <= whole.count / 2 && offset > whole.count / 2 - 1000)
        let recording = try RecordingReader.load(path: output)
        #expect(!recording.slices.isEmpty)
        #expect(value(recording, .damagedInput) == Int64(offset))
    }

    private func bytes(of path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        let size = Int(max(lseek(descriptor, 0, SEEK_END), 0))
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(pread(descriptor, buffer.baseAddress, size, 0), 0)
        }
    }
}
