import CAgent
import CSystem
import ProfileModel
import Synchronization

/// A mapping of its own for trampolines near code that is far from our other memory: the program's.
///
/// Unsafe code: every access lies within the size that was mapped.
final class MarkIsland {
    static let size = TrampolineSpace.size

    let address: UInt64
    private let base: UnsafeMutableRawPointer
    /// Behind the head that every mapping has which a thread of the program makes for us.
    private static let head = 64

    /// Maps the descriptor `number` of process `pid`. nil when that fails.
    init?(pid: Int32, descriptor: Int32, address: UInt64) {
        guard let base = fl_map_shared("/proc/\(pid)/fd/\(descriptor)", Self.size) else {
            return nil
        }
        self.base = base
        self.address = address
    }

    deinit { fl_unmap(base, Self.size) }

    var range: Range<UInt64> { address..<(address &+ UInt64(Self.size)) }

    /// Room for trampolines, once. It must not outlive this.
    func makeSpace(routine: UInt64) -> TrampolineSpace {
        TrampolineSpace(
            memory: base + Self.head, size: Self.size - Self.head,
            address: address &+ UInt64(Self.head), routine: routine)
    }

    /// Lets the thread go on that mapped it. false: it has given up waiting.
    func accept() -> Bool {
        phase.pointee.compareExchange(
            expected: UInt32(FL_PHASE_MAPPED), desired: UInt32(FL_PHASE_ACCEPTED),
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Whether that thread is through with it.
    var isReady: Bool { phase.pointee.load(ordering: .acquiring) == UInt32(FL_PHASE_READY) }

    private var phase: UnsafeMutablePointer<Atomic<UInt32>> {
        let offset = MemoryLayout<fl_shared>.offset(of: \fl_shared.phase) ?? 0
        return (base + offset).assumingMemoryBound(to: Atomic<UInt32>.self)
    }
}
