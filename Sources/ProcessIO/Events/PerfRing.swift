import Architecture
import CSystem
import Glibc
import System

/// An event's descriptor and the memory through which its records arrive.
///
/// Unsafe code: the memory is mapped as long as this object lives, and read by one function that
/// knows its size. The kernel does not change any part that we have not released.
package final class PerfRing {
    private let descriptor: Int32
    private let memory: UnsafeMutableRawPointer
    private let pages: Int
    /// Other events whose records arrive here.
    private var others: [Int32] = []

    /// Takes over the descriptor, even if there can be no ring.
    package convenience init(descriptor: Int32, pages: Int) throws(SystemError) {
        try check(descriptor, "opening the kernel's events")
        do throws(SystemError) {
            try self.init(copying: descriptor, pages: pages)
        } catch {
            Self.close(descriptor)
            throw error
        }
    }

    /// One ring for each core that is switched on.
    ///
    /// - Parameters:
    ///   - open: opens an event on a core; returns its descriptor, or -errno.
    ///   - what: names the event in the error.
    package static func onEachCore(
        pages: Int, _ what: String, _ open: (Int32) -> Int32
    ) throws(SystemError) -> [PerfRing] {
        var rings: [PerfRing] = []
        for core in 0..<Int32(clamping: max(1, sysconf(Int32(_SC_NPROCESSORS_CONF)))) {
            let events = open(core)
            if events == -ENODEV { continue }
            rings.append(try PerfRing(descriptor: events, pages: pages))
        }
        guard !rings.isEmpty else { throw SystemError(what, code: ENODEV) }
        return rings
    }

    package static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    /// The event's count; nil: unreadable.
    package var count: Int64? {
        let count = fl_read_count(descriptor)
        return count < 0 ? nil : count
    }

    /// Whether nothing more will come, and nothing is left to be read.
    package var hasEnded: Bool {
        fl_events_are_over(descriptor) != 0 && fl_ring_content(memory, pages) == 0
    }

    /// Takes over the descriptor only if a ring can be made. EMFILE: the descriptor is one of those
    /// that are reserved.
    package init(copying descriptor: Int32, pages: Int) throws(SystemError) {
        // Without it the recorder knows less; without its other files it knows nothing.
        guard DescriptorReserve.leaves(descriptor) else {
            throw SystemError("mapping the kernel's events", code: EMFILE)
        }
        var error: Int32 = 0
        guard let memory = fl_map_ring(descriptor, pages, &error) else {
            throw SystemError("mapping the kernel's events", code: error)
        }
        self.descriptor = descriptor
        self.memory = memory
        self.pages = pages
    }

    deinit {
        fl_unmap_ring(memory, pages)
        LateClosing.close(others)
        Self.close(descriptor)
    }

    /// Makes a tracepoint write here the events that pass a filter, and takes over its descriptor.
    package func add(_ other: Int32, filter: String) throws(SystemError) {
        try check(other, "opening the kernel's events")
        others.append(other)
        guard DescriptorReserve.leaves(other) else {
            throw SystemError("opening the kernel's events", code: EMFILE)
        }
        try check(fl_filter_events(other, filter), "choosing scheduler events")
        try check(fl_redirect_events(other, descriptor), "joining scheduler events")
        try check(fl_start_events(other), "starting scheduler events")
    }

    /// Hands on each record since the last call, in place. (A sample's copy of a stack has room for
    /// 60 KiB, and seldom needs it.)
    ///
    /// - Parameter body: is called before the kernel may write there again.
    package func forEach(_ body: (PerfRecords.Record) -> Void) {
        // When we asked for the end of the content, a record ended there.
        let size = fl_ring_content(memory, pages)
        guard size > 0 else { return }
        defer { fl_release_ring(memory, pages, size) }
        let place = fl_ring_place(memory, pages)
        let data = UnsafeRawBufferPointer(
            start: memory + Int(VirtualMemory.pageSize), count: pages * Int(VirtualMemory.pageSize))
        let whole = data[place...].prefix(size)
        let read = PerfRecords.forEach(in: UnsafeRawBufferPointer(rebasing: whole), body)
        guard whole.count < size else { return }
        // One record continues at the ring's beginning.
        let cut = data[(place + read)..<data.count]
        let length = PerfRecords.length(of: cut)
        guard length >= cut.count, length - cut.count <= size - whole.count else { return }
        let joined = Array(cut) + data.prefix(length - cut.count)
        joined.withUnsafeBytes { _ = PerfRecords.forEach(in: $0, body) }
        let rest = data[(length - cut.count)..<(size - whole.count)]
        _ = PerfRecords.forEach(in: UnsafeRawBufferPointer(rebasing: rest), body)
    }
}
