import CSystem
import Glibc
import ProfileModel

/// `listen`: looks for a socket of the process on which it accepts connections.
///
/// Looked for at each tick at which a thread may have done something; that takes 3 µs, with sockets
/// 20 to 40, and in all no more than a hundredth of a core (``LookBudget``).
final class ListenSource: ReadySource {
    private let port: UInt16?
    private var sockets: ProcessSockets?
    private let listeners: ListeningSockets
    /// Those that it was started with: whoever started it listens on them.
    private let inherited: Set<UInt64>
    /// Sockets that the process opened itself.
    private var candidates: [ProcessSockets.Socket] = []
    private var budget = LookBudget(at: .now)
    /// What the threads waited in at the last look; nil: not all did.
    private var lastSignature: UInt64?
    /// Whether every descriptor was looked at since.
    private var isComplete = false
    private var found: MonotonicTime?

    /// - Parameter ignoresInherited: sockets of ours, which the process may have from us.
    init(port: UInt16?, ignoresInherited: Bool) {
        self.port = port
        listeners = ListeningSockets(port: port)
        var own = ProcessSockets(pid: getpid())
        _ = own?.refresh()
        inherited = ignoresInherited ? Set((own?.open ?? []).map(\.inode)) : []
    }

    func began(_ pid: Int32) { sockets = ProcessSockets(pid: pid) }

    func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        guard found == nil, budget.allows(at: now) else { return found }
        let isQuiet = isQuiet(launch)
        if isQuiet, isComplete { return found }
        isComplete = isQuiet
        // A socket in the place of a closed file may have been passed over until now.
        // The tick began a while ago, and it was not listening then, perhaps.
        budget.pay(for: {
            if isListening(everyDescriptor: isQuiet) { found = launch.now }
        })
        return found
    }

    /// Nobody can have made a call since the last look.
    private func isQuiet(_ launch: any LaunchView) -> Bool {
        let signature = launch.blockedSignature
        defer { lastSignature = signature }
        return signature != nil && signature == lastSignature
    }

    private func isListening(everyDescriptor: Bool) -> Bool {
        guard sockets != nil else { return false }
        if everyDescriptor { sockets?.relist() }
        if everyDescriptor || sockets?.refresh() == true {
            candidates = (sockets?.open ?? []).filter { !inherited.contains($0.inode) }
        }
        return listeners.containsAny(of: candidates, pid: sockets?.pid ?? 0)
    }
}
