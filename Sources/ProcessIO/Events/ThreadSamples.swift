package import Architecture
import CSystem
import Glibc
package import ProfileModel
import System

/// A thread's stacks, taken by the kernel (perf_event_open(2)): at each interval of its own CPU
/// time, wherever it is, in a system call, too. The thread gets no signal and no stop, so no call of
/// its can end early. Needs no privilege for processes of one's own where
/// `kernel.perf_event_paranoid` is at most 2; in the kernel's code only where it is at most 1.
///
/// The interrupt for each sample costs the thread some 20 µs on a virtual machine.
package final class ThreadSamples {
    private let source: Source
    private let tid: Int32
    /// The thread's CPU time when the event began to count, in nanoseconds, as far as it is known.
    /// It is never too high: CPU time counted too much at one look could not be taken back at the
    /// next.
    private var base: Int64
    private var isBaseExact = false
    private let interval: Int64

    private enum Source {
        case own(PerfRing)
        case tree(TreeSamples)
    }
    /// The event's count at the last sample, or at its start.
    private var lastSample: (count: Int64, time: MonotonicTime)
    /// How much of a stack each sample holds.
    package let stackBytes: Int
    /// Samples later than the limit of the last call.
    private var later: [Observation] = []
    /// The pages not in memory at which copies ended, and when each was first fetched.
    private var fetched: [UInt64: MonotonicTime] = [:]
    /// Whether the kernel's code is left out.
    package let isUserOnly: Bool

    /// The most that a record may hold, less its other contents.
    package static let mostStackBytes = 60 << 10
    private static let leastStackBytes = 4096
    /// How many samples wait for the recorder. If the recorder has no core when a launch begins,
    /// even a busy machine gives it one within some tens of milliseconds.
    private static let usualSamples = 8
    private static let samplesOfLaunch = 32

    /// - Parameters:
    ///   - cpu: the thread's CPU time by the kernel's own figure. A running thread's figure lags by
    ///     up to a tick of the scheduler. Adding the time since a look would be no better, because
    ///     the thread may be waiting for a core.
    ///   - interval: of CPU time.
    ///   - inKernelOnly: whether its own code is left out.
    ///   - fromExec: whether sampling begins only once it has executed a program.
    /// - Throws: why the events cannot be opened; `ENOMEM` if there is no memory for the ring.
    package init(
        tid: Int32, cpu: Int64, interval: Int64, stackBytes: Int, inKernelOnly: Bool = false,
        fromExec: Bool = false
    ) throws(SystemError) {
        self.interval = interval
        self.tid = tid
        lastSample = (0, .now)
        self.stackBytes = min(max(stackBytes, Self.leastStackBytes), Self.mostStackBytes) & ~7
        base = cpu
        let size = UInt32(self.stackBytes)
        func open(_ place: Int) -> Int32 {
            fl_open_samples(tid, UInt64(interval), size, Int32(place), fromExec ? 1 : 0)
        }
        let first = open(inKernelOnly ? FL_KERNEL_CODE : FL_EVERYWHERE)
        isUserOnly = first < 0 && !inKernelOnly
        let descriptor = isUserOnly ? open(FL_OWN_CODE) : first
        try check(descriptor, "opening a thread's events")
        guard DescriptorReserve.leaves(descriptor) else {
            PerfRing.close(descriptor)
            throw SystemError("opening a thread's events", code: EMFILE)
        }
        let room = fromExec ? Self.samplesOfLaunch : Self.usualSamples
        var pages = 8
        while pages * Int(VirtualMemory.pageSize) < room * self.stackBytes { pages *= 2 }
        // If memory is short, a smaller ring with a few samples must do.
        while true {
            if let ring = try? PerfRing(copying: descriptor, pages: pages) {
                source = .own(ring)
                break
            }
            pages /= 2
            guard pages * Int(VirtualMemory.pageSize) > 2 * self.stackBytes else {
                PerfRing.close(descriptor)
                throw SystemError("mapping a thread's events", code: ENOMEM)
            }
        }
    }

    /// The thread's samples among those of all threads that a process has started.
    package init(tid: Int32, cpu: Int64, interval: Int64, of tree: TreeSamples) {
        self.interval = interval
        self.tid = tid
        lastSample = (0, .now)
        stackBytes = tree.stackBytes
        isUserOnly = tree.isUserOnly
        base = cpu
        source = .tree(tree)
        tree.follow(tid)
    }

    deinit {
        if case .tree(let tree) = source { tree.forget(tid) }
    }

    /// The thread's state at one moment.
    package struct Observation {
        package var time: MonotonicTime
        /// The thread's CPU time then, in nanoseconds.
        package var cpu: Int64
        package var registers: Registers
        package var stack: StackCopy
        /// As in ``Snapshot/kernelChain``.
        package var kernelChain: [UInt64]
        /// True if the stack is longer than the copy.
        package var isCut: Bool
        /// The part that the kernel was to copy and could not, because its pages are not in memory;
        /// or empty.
        package var missing: Range<UInt64> = 0..<0
        /// Whether it was in the kernel's code: in a system call, a page fault or an interrupt.
        package var isInKernel: Bool
        /// Whether samples before this one may be missing, of which one may have been in a call.
        package var mayHideCall = false
    }

    /// The samples since the last call, in order.
    ///
    /// - Parameters:
    ///   - cpu: a lower bound of the thread's CPU time. For a running thread, the kernel reports
    ///     the time up to that core's last tick.
    ///   - limit: later ones are left for the next call.
    package func take(cpuAtLeast cpu: Int64 = 0, upTo limit: MonotonicTime? = nil) -> [Observation]
    {
        var result: [Observation] = []
        switch source {
        case .own(let ring):
            swap(&result, &later)
            ring.forEach { record in
                guard record.kind == .sample,
                    let count = record.number(at: Self.countOffset, as: Int64.self),
                    var seen = Self.observation(
                        record, cpu: count, chainAt: Self.countOffset + 8)
                else { return }
                // Those in the kernel's code may be missing.
                seen.mayHideCall = seen.cpu - lastSample.count > interval + interval / 2
                lastSample = (seen.cpu, seen.time)
                result.append(seen)
            }
            if let limit, let first = result.firstIndex(where: { $0.time > limit }) {
                later = Array(result[first...])
                result.removeSubrange(first...)
            }
        case .tree(let tree):
            result = tree.take(tid, upTo: limit)
            for index in result.indices {
                result[index].cpu = lastSample.count &+ interval
                lastSample = (result[index].cpu, result[index].time)
            }
        }
        raiseBase(to: cpu)
        for index in result.indices { result[index].cpu &+= base }
        return result
    }

    /// We do not read the event's count since its last sample, because that would interrupt the
    /// thread. The count cannot exceed the elapsed time.
    private func raiseBase(to cpu: Int64) {
        guard !isBaseExact else { return }
        let counted = lastSample.count &+ (.now - lastSample.time).nanoseconds
        base = max(base, cpu &- counted)
    }

    /// Notes that the missing part of a copy has been fetched.
    ///
    /// - Returns: true if the copy is older than the first fetch: later copies should not lack that
    ///   part.
    package func noteFetch(for copy: Observation, at now: MonotonicTime) -> Bool {
        let start = copy.missing.lowerBound
        if fetched[start] == nil { fetched[start] = now }
        return fetched[start].map { copy.time < $0 } == true
    }

    /// True if no more samples will come, and none waits: the kernel ends a thread's events when the
    /// thread ends, and when it executes a program that we may not look into.
    package var hasEnded: Bool {
        switch source {
        case .own(let ring): later.isEmpty && ring.hasEnded
        case .tree: false
        }
    }

    /// The thread is off its core, and its CPU time is known exactly.
    package func calibrate(cpu: Int64) {
        switch source {
        case .own(let ring):
            guard !isBaseExact, let counted = ring.count else { return }
            base = cpu - counted
            isBaseExact = true
        case .tree: base = cpu - lastSample.count
        }
    }

    // MARK: The record

    // pid, tid, time, core, count; then the kernel's part of the stack, the kind of registers, the
    // registers, and the stack.
    private static let countOffset = 24

    /// The most frames of the kernel's stack that a record has room for. By default the kernel
    /// follows 127 (`kernel.perf_event_max_stack`).
    private static let longestChain = 8192

    /// - Parameter chainOffset: where the number of words in the kernel's part of the stack is.
    package static func observation(
        _ record: PerfRecords.Record, cpu: Int64, chainAt chainOffset: Int
    ) -> Observation? {
        guard let length = record.number(at: chainOffset, as: UInt64.self),
            length <= longestChain
        else { return nil }
        let kindOffset = chainOffset + 8 + 8 * Int(length)
        guard let time = record.time, let kind = record.number(at: kindOffset, as: UInt64.self),
            kind != 0
        else { return nil }
        var registers = Registers()
        let order = RegisterOrder.samples
        for (index, number) in order.enumerated() {
            guard
                let value = record.number(at: kindOffset + 8 + 8 * index, as: UInt64.self)
            else { return nil }
            registers[number] = value
        }
        let sizeOffset = kindOffset + 8 + 8 * order.count
        guard let size = record.number(at: sizeOffset, as: UInt64.self), size < 1 << 16,
            let copied = size == 0
                ? 0 : record.number(at: sizeOffset + 8 + Int(size), as: UInt64.self),
            copied <= size
        else { return nil }
        return Observation(
            time: time, cpu: cpu, registers: registers,
            stack: StackCopy(
                start: registers.stackPointer,
                bytes: record.bytes(at: sizeOffset + 8, count: Int(copied))),
            kernelChain: kernelChain(record, at: chainOffset + 8, length: Int(length)),
            isCut: size > 0 && copied == size,
            missing: missing(size - copied, from: registers.stackPointer &+ copied),
            isInKernel: record.isInKernel)
    }

    package static func missing(_ size: UInt64, from start: UInt64) -> Range<UInt64> {
        let (end, isBeyond) = start.addingReportingOverflow(size)
        return isBeyond ? start..<start : start..<end
    }

    /// Without the markers of its parts, `PERF_CONTEXT_MAX` and above.
    private static func kernelChain(
        _ record: PerfRecords.Record, at offset: Int, length: Int
    ) -> [UInt64] {
        guard record.isInKernel else { return [] }
        return (0..<length).compactMap { index in
            record.number(at: offset + 8 * index, as: UInt64.self)
        }.filter { $0 < UInt64(bitPattern: -4095) }
    }
}
