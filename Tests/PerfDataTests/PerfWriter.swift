/// Makes perf.data files byte by byte, as perf.data-file-format.txt describes them.
struct PerfWriter {
    /// IP, TID, TIME, CPU, PERIOD, CALLCHAIN, REGS_USER, STACK_USER
    static let fullType: UInt64 =
        1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13
    static let allRegisters: UInt64 = 0xff_0fff

    var sampleType = fullType
    var data: [UInt8] = []
    var readFormat: UInt64 = 0
    var branchType: UInt64 = 0
    var ids: [[UInt64]] = [[7]]

    static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    static func padded(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8) + [0]
        return bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    }

    static func words(_ values: UInt64...) -> [UInt8] { values.flatMap { bytes($0) } }

    static func pair(_ first: Int32, _ second: Int32) -> [UInt8] { bytes(first) + bytes(second) }

    mutating func add(_ type: UInt32, misc: UInt16 = 2, _ body: [UInt8]) {
        data += Self.bytes(type) + Self.bytes(misc) + Self.bytes(UInt16(body.count + 8)) + body
    }

    /// What records but samples end with: TID, TIME, CPU.
    func trailer(_ pid: Int32, _ tid: Int32, time: UInt64, cpu: UInt32 = 1) -> [UInt8] {
        Self.pair(pid, tid) + Self.words(time) + Self.bytes(cpu) + Self.bytes(0 as UInt32)
    }

    mutating func addRound() { add(68, misc: 0, []) }

    mutating func addMapping(
        _ pid: Int32, start: UInt64, length: UInt64, path: String, time: UInt64
    ) {
        var body = Self.pair(pid, pid) + Self.words(start, length, 0x1000)
        body += Self.pair(8, 1) + Self.words(99, 0) + Self.bytes(5 as UInt32)
        body += Self.bytes(2 as UInt32) + Self.padded(path) + trailer(pid, pid, time: time)
        add(10, body)
    }

    mutating func addName(_ pid: Int32, _ tid: Int32, _ name: String, time: UInt64, misc: UInt16) {
        add(3, misc: misc, Self.pair(pid, tid) + Self.padded(name) + trailer(pid, tid, time: time))
    }

    mutating func addLife(
        _ type: UInt32, pid: Int32, parent: Int32, tid: Int32, parentThread: Int32, time: UInt64
    ) {
        add(
            type,
            Self.pair(pid, parent) + Self.pair(tid, parentThread) + Self.words(time)
                + trailer(pid, tid, time: time))
    }

    /// With a stack of `words`, of which the first `valid` bytes count.
    mutating func addSample(
        _ pid: Int32, _ tid: Int32, time: UInt64, chain: [UInt64] = [], stack: [UInt64] = [1, 2],
        valid: UInt64? = nil
    ) {
        var body = Self.words(0x4000) + Self.pair(pid, tid) + Self.words(time)
        body += Self.bytes(3 as UInt32) + Self.bytes(0 as UInt32) + Self.words(1_000_000)
        body += Self.words(UInt64(chain.count)) + chain.flatMap { Self.bytes($0) }
        // PERF_SAMPLE_REGS_ABI_64, and for each register a number of its own.
        body += Self.words(2) + (0..<20).flatMap { Self.bytes(UInt64(100 + $0)) }
        body += Self.words(UInt64(stack.count * 8)) + stack.flatMap { Self.bytes($0) }
        if !stack.isEmpty { body += Self.words(valid ?? UInt64(stack.count * 8)) }
        add(9, body)
    }

    /// `struct perf_event_attr`, version 5 (112 bytes), of the event cpu-clock at 1000 Hz.
    private func attribute() -> [UInt8] {
        // freq, sample_id_all, comm_exec, enable_on_exec
        let flags: UInt64 = 1 << 10 | 1 << 18 | 1 << 24 | 1 << 12
        return Self.pair(1, 112) + Self.words(0, 1000, sampleType, readFormat, flags, 0, 0, 0)
            + Self.words(branchType, Self.allRegisters) + Self.pair(8192, 0) + Self.words(0, 0)
    }

    func file() -> [UInt8] {
        let header = 104
        var bytes = Self.words(0x3245_4C49_4652_4550, UInt64(header), 128)
        let idStart = header + 128 * ids.count
        let idBytes = ids.map { $0.flatMap { Self.bytes($0) } }
        let dataStart = idStart + idBytes.reduce(0) { $0 + $1.count }
        bytes += Self.words(UInt64(header), UInt64(128 * ids.count))
        bytes += Self.words(UInt64(dataStart), UInt64(data.count)) + Self.words(0, 0)
        bytes += Self.words(0, 0, 0, 0)
        var place = idStart
        for ids in idBytes {
            bytes += attribute() + Self.words(UInt64(place), UInt64(ids.count))
            place += ids.count
        }
        return bytes + idBytes.flatMap { $0 } + data
    }

    /// Each record that means something once.
    static func everything() -> PerfWriter {
        var writer = PerfWriter()
        writer.addName(10, 10, "program", time: 1000, misc: 1 << 13)
        writer.addMapping(10, start: 0x4000, length: 0x1000, path: "/bin/program", time: 1100)
        writer.addLife(7, pid: 10, parent: 10, tid: 11, parentThread: 10, time: 1200)
        writer.addSample(10, 10, time: 2000)
        writer.addSample(10, 11, time: 1900, chain: [UInt64(bitPattern: -512), 0x4000, 0x4010])
        writer.add(14, misc: 1 << 13 | 1 << 14, writer.trailer(10, 11, time: 2100))
        writer.add(14, misc: 0, writer.trailer(10, 11, time: 2200))
        writer.add(15, misc: 1 << 13, pair(1, 1) + writer.trailer(10, 11, time: 2300))
        writer.addRound()
        writer.add(2, words(7, 42) + writer.trailer(10, 10, time: 2400))
        writer.add(13, words(43) + writer.trailer(10, 10, time: 2500))
        writer.add(5, words(2600, 7, 7) + writer.trailer(10, 10, time: 2600))
        // THREAD_MAP, KSYMBOL and one of the future mean nothing.
        for type: UInt32 in [73, 17, 4711] { writer.add(type, words(1, 2, 3)) }
        // An AUXTRACE's bytes follow it.
        writer.add(71, words(16, 0, 0, 0, 0))
        writer.data += words(.max, .max)
        writer.add(67, misc: 1, pair(-1, 0) + words(1, 2) + padded("/bin/program"))
        writer.addLife(4, pid: 10, parent: 1, tid: 11, parentThread: 1, time: 3000)
        return writer
    }
}
