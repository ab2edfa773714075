import Architecture
import ProfileModel

/// Parses a sample's parts in the kernel's order (`perf_output_sample`), up to the stack; we do not
/// use the later parts.
struct SampleParser {
    let event: PerfEvent

    /// nil: the record is too short.
    func parse(_ record: RawRecord, event index: Int) -> (sample: PerfSample, time: UInt64?)? {
        var reader = record.body
        let type = event.sampleType
        var time: UInt64?
        var sample = PerfSample(
            event: index, pid: -1, tid: -1, instruction: 0, isKernel: record.isKernel, cpu: nil,
            period: event.usualPeriod, snapshot: nil,
            callchain: [], raw: [])
        if type.contains(.identifier) { guard reader.skip(8) != nil else { return nil } }
        if type.contains(.instruction) {
            guard let value = reader.u64() else { return nil }
            sample.instruction = value
        }
        if type.contains(.thread) {
            guard let pid = reader.i32(), let tid = reader.i32() else { return nil }
            (sample.pid, sample.tid) = (pid, tid)
        }
        if type.contains(.time) {
            guard let value = reader.u64() else { return nil }
            time = value
        }
        for field in [SampleType.address, .id, .streamID] where type.contains(field) {
            guard reader.skip(8) != nil else { return nil }
        }
        if type.contains(.cpu) {
            guard let cpu = reader.u32(), reader.u32() != nil else { return nil }
            sample.cpu = cpu
        }
        if type.contains(.period) {
            guard let value = reader.u64() else { return nil }
            sample.period = value
        }
        guard parseVariable(&reader, into: &sample) != nil else { return nil }
        return (sample, time)
    }

    /// The parts whose size varies between samples.
    private func parseVariable(_ reader: inout ByteReader, into sample: inout PerfSample) -> Void? {
        let type = event.sampleType
        if type.contains(.read) {
            guard parseCounts(&reader, into: &sample) != nil else { return nil }
        }
        if type.contains(.callchain) {
            guard let count = reader.count(of: 8), let chain = reader.words(count) else {
                return nil
            }
            sample.callchain = chain
        }
        if type.contains(.raw) {
            guard let count = reader.u32(), let raw = reader.take(Int(count)) else { return nil }
            sample.raw = raw
        }
        if type.contains(.branchStack) { guard skipBranches(&reader) != nil else { return nil } }
        var registers: Registers?
        if type.contains(.userRegisters) {
            guard let kind = reader.u64() else { return nil }
            if kind != 0 {
                guard let all = UserRegisters.read(&reader, mask: event.userRegisters) else {
                    return nil
                }
                // PERF_SAMPLE_REGS_ABI_64
                if kind == 2 { registers = all }
            }
        }
        guard type.contains(.userStack) else { return () }
        guard let stack = stackBytes(&reader) else { return nil }
        if let registers, let start = registers[Registers.stackPointer] {
            sample.snapshot = Snapshot(
                registers: registers, stack: StackCopy(start: start, bytes: stack))
        }
        return ()
    }

    private func stackBytes(_ reader: inout ByteReader) -> [UInt8]? {
        guard let size = reader.count() else { return nil }
        guard size > 0 else { return [] }
        // After the bytes, the kernel stores how many of them are valid.
        var behind = reader
        guard behind.skip(size) != nil, let valid = behind.u64() else { return nil }
        let bytes = reader.take(Int(clamping: min(valid, UInt64(size))))
        reader = behind
        return bytes
    }

    private func parseCounts(_ reader: inout ByteReader, into sample: inout PerfSample) -> Void? {
        let format = event.readFormat
        let times = (format & 1 != 0 ? 8 : 0) + (format & 2 != 0 ? 8 : 0)
        let each = 8 + (format & 4 != 0 ? 8 : 0) + (format & 16 != 0 ? 8 : 0)
        // PERF_FORMAT_GROUP
        guard format & 8 != 0 else { return reader.skip(times + each) }
        guard let count = reader.u64(), reader.skip(times) != nil,
            let count = Int(exactly: count), count <= reader.remaining / each
        else { return nil }
        guard event.countsGroups else { return reader.skip(count * each) }
        for _ in 0..<count {
            guard let value = reader.u64(), let id = reader.u64(), reader.skip(each - 16) != nil
            else { return nil }
            sample.counts.append(PerfSample.Count(id: id, value: value))
        }
        return ()
    }

    private func skipBranches(_ reader: inout ByteReader) -> Void? {
        guard let count = reader.u64() else { return nil }
        // PERF_SAMPLE_BRANCH_HW_INDEX, PERF_SAMPLE_BRANCH_COUNTERS
        if event.branchType & 1 << 17 != 0 { guard reader.skip(8) != nil else { return nil } }
        let each = 24 + (event.branchType & 1 << 19 != 0 ? 8 : 0)
        guard let count = Int(exactly: count), count <= reader.remaining / each else {
            return nil
        }
        return reader.skip(count * each)
    }
}

/// The registers of the sampled thread, as the kernel writes them.
enum UserRegisters {
    /// Reads the registers in the mask. nil: the sample is too short.
    static func read(_ reader: inout ByteReader, mask: UInt64) -> Registers? {
        var registers = Registers()
        let order = RegisterOrder.perfBits
        for bit in 0..<64 where mask & 1 << UInt64(bit) != 0 {
            guard let value = reader.u64() else { return nil }
            if bit < order.count, let number = order[bit] { registers[number] = value }
        }
        return registers
    }
}
