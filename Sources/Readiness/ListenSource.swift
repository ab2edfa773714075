import Glibc
import ProcessIO
package import ProfileModel
import System

/// `listen`: looks for a socket of the process, or of a followed child, on which it accepts connections.
///
/// Looks at each tick at which a thread may have done something. A look takes 3 µs, with sockets 20
/// to 40, and all looks at most a hundredth of a core (``LookBudget``).
package final class ListenSource: ReadySource {
    private let listeners: ListeningSockets
    /// The sockets that the process was started with: the process that started it listens on them.
    private let inherited: Set<UInt64>
    private var main: ListenWatch?
    /// The followed children; nil: their descriptors may not be read.
    private var children: [Int32: ListenWatch?] = [:]
    private var budget = LookBudget(at: .now)
    private var found: MonotonicTime?

    /// - Parameter ignoresInherited: ignores our own sockets, which the process may have inherited.
    package init(port: UInt16?, ignoresInherited: Bool) {
        listeners = ListeningSockets(port: port)
        var own = ProcessSockets(pid: getpid())
        _ = own?.refresh()
        inherited = ignoresInherited ? Set((own?.open ?? []).map(\.inode)) : []
    }

    package func began(_ pid: Int32) { main = ListenWatch(pid, ignoring: inherited) }

    package func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        look(at: now, launch, &main)
    }

    package func look(at now: MonotonicTime, inChild pid: Int32, _ child: any LaunchView)
        -> MonotonicTime?
    {
        var watch = children[pid] ?? ListenWatch(pid, ignoring: inherited)
        defer { children[pid] = .some(watch) }
        return look(at: now, child, &watch)
    }

    package func childEnded(_ pid: Int32) { children[pid] = nil }

    private func look(
        at now: MonotonicTime, _ launch: any LaunchView, _ watch: inout ListenWatch?
    ) -> MonotonicTime? {
        guard found == nil, watch != nil, budget.allows(at: now) else { return found }
        guard let extent = watch?.extent(of: launch) else { return found }
        // The tick began a while ago, when the process may not have listened yet.
        budget.pay(for: {
            if watch?.look(extent, listeners) == true { found = launch.now }
        })
        return found
    }
}

/// Tells whether one process accepts connections.
private struct ListenWatch {
    enum Extent {
        case newDescriptors, everyDescriptor
    }

    private var sockets: ProcessSockets
    private let inherited: Set<UInt64>
    /// Sockets that the process opened itself.
    private var candidates: [ProcessSockets.Socket] = []
    /// Identifies the threads' waits at the last look; nil: not all threads waited.
    private var lastSignature: UInt64?
    /// True if every descriptor has been looked at since.
    private var isComplete = false

    /// nil: its descriptors may not be read.
    init?(_ pid: Int32, ignoring inherited: Set<UInt64>) {
        guard let sockets = ProcessSockets(pid: pid) else { return nil }
        (self.sockets, self.inherited) = (sockets, inherited)
    }

    /// Which descriptors must be looked at; nil: none.
    mutating func extent(of launch: any LaunchView) -> Extent? {
        let isQuiet = noteActivity(of: launch)
        if isQuiet, isComplete { return nil }
        isComplete = isQuiet
        // If a socket took the number of a closed file, we may have missed the socket until now.
        return isQuiet ? .everyDescriptor : .newDescriptors
    }

    /// - Returns: true if no thread can have made a call since the last look.
    private mutating func noteActivity(of launch: any LaunchView) -> Bool {
        let signature = launch.blockedSignature
        defer { lastSignature = signature }
        return signature != nil && signature == lastSignature
    }

    mutating func look(_ extent: Extent, _ listeners: ListeningSockets) -> Bool {
        if extent == .everyDescriptor { sockets.relist() }
        if extent == .everyDescriptor || sockets.refresh() {
            candidates = sockets.open.filter { !inherited.contains($0.inode) }
        }
        return listeners.containsAny(of: candidates, pid: sockets.pid)
    }
}
