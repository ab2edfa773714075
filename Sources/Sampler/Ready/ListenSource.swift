import Glibc
import ProfileModel
import System

/// `listen`: looks for a socket of the process, or of a followed child, on which it accepts connections.
///
/// Looked for at each tick at which a thread may have done something; that takes 3 µs, with sockets
/// 20 to 40, and in all no more than a hundredth of a core (``LookBudget``).
final class ListenSource: ReadySource {
    private let listeners: ListeningSockets
    /// Those that it was started with: whoever started it listens on them.
    private let inherited: Set<UInt64>
    private var main: ListenWatch?
    /// Of the children that are followed; nil: their descriptors may not be read.
    private var children: [Int32: ListenWatch?] = [:]
    private var budget = LookBudget(at: .now)
    private var found: MonotonicTime?

    /// - Parameter ignoresInherited: sockets of ours, which the process may have from us.
    init(port: UInt16?, ignoresInherited: Bool) {
        listeners = ListeningSockets(port: port)
        var own = ProcessSockets(pid: getpid())
        _ = own?.refresh()
        inherited = ignoresInherited ? Set((own?.open ?? []).map(\.inode)) : []
    }

    func began(_ pid: Int32) { main = ListenWatch(pid, ignoring: inherited) }

    func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        look(at: now, launch, &main)
    }

    func look(at now: MonotonicTime, inChild pid: Int32, _ child: any LaunchView) -> MonotonicTime?
    {
        var watch = children[pid] ?? ListenWatch(pid, ignoring: inherited)
        defer { children[pid] = .some(watch) }
        return look(at: now, child, &watch)
    }

    func childEnded(_ pid: Int32) { children[pid] = nil }

    private func look(
        at now: MonotonicTime, _ launch: any LaunchView, _ watch: inout ListenWatch?
    ) -> MonotonicTime? {
        guard found == nil, watch != nil, budget.allows(at: now) else { return found }
        guard let extent = watch?.extent(of: launch) else { return found }
        // The tick began a while ago, and it was not listening then, perhaps.
        budget.pay(for: {
            if watch?.isListening(extent, listeners) == true { found = launch.now }
        })
        return found
    }
}

/// Whether one process accepts connections.
private struct ListenWatch {
    enum Extent {
        case newDescriptors, everyDescriptor
    }

    private var sockets: ProcessSockets
    private let inherited: Set<UInt64>
    /// Sockets that the process opened itself.
    private var candidates: [ProcessSockets.Socket] = []
    /// What the threads waited in at the last look; nil: not all did.
    private var lastSignature: UInt64?
    /// Whether every descriptor was looked at since.
    private var isComplete = false

    /// nil: its descriptors may not be read.
    init?(_ pid: Int32, ignoring inherited: Set<UInt64>) {
        guard let sockets = ProcessSockets(pid: pid) else { return nil }
        (self.sockets, self.inherited) = (sockets, inherited)
    }

    /// How much must be looked at; nil: nothing.
    mutating func extent(of launch: any LaunchView) -> Extent? {
        let isQuiet = isQuiet(launch)
        if isQuiet, isComplete { return nil }
        isComplete = isQuiet
        // A socket in the place of a closed file may have been passed over until now.
        return isQuiet ? .everyDescriptor : .newDescriptors
    }

    /// Nobody can have made a call since the last look.
    private mutating func isQuiet(_ launch: any LaunchView) -> Bool {
        let signature = launch.blockedSignature
        defer { lastSignature = signature }
        return signature != nil && signature == lastSignature
    }

    mutating func isListening(_ extent: Extent, _ listeners: ListeningSockets) -> Bool {
        if extent == .everyDescriptor { sockets.relist() }
        if extent == .everyDescriptor || sockets.refresh() {
            candidates = sockets.open.filter { !inherited.contains($0.inode) }
        }
        return listeners.containsAny(of: candidates, pid: sockets.pid)
    }
}
