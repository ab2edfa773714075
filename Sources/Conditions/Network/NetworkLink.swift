import CSystem
import Glibc

/// The program's network. Its namespace has one interface, the end of a cable whose other end is in
/// a second namespace. Each end slows the packets that leave it, so both directions are slowed. If
/// the kernel cannot do that, the cable is one of our processes (``LinkLine``). Behind the second
/// namespace, a relay in user space (``OutsideRelay``) connects it, so that nothing outside is
/// changed.
struct NetworkLink: ~Copyable {
    /// The program's address, its gateway, and the relay's name server.
    static let address: LinkMessages.Address = (10, 0, 2, 100)
    static let gateway: LinkMessages.Address = (10, 0, 2, 2)
    static let nameServer = "10.0.2.3"

    private enum Index {
        static let loopback: Int32 = 1
        static let program: Int32 = 10
        static let far: Int32 = 11
        static let bridge: Int32 = 12
    }

    private let line: LinkLine?
    private let relay: OutsideRelay?

    /// An empty network with only the loopback interface.
    static func setUpLoopback(of namespaces: borrowing Namespaces, _ condition: String)
        throws(ConditionError)
    {
        try namespaces.networkSocket(condition)
            .ask(LinkMessages.setUp(index: Index.loopback), "setting up the loopback interface")
    }

    /// - Parameters:
    ///   - reachesOutside: false for tests: there is nothing behind the second namespace.
    ///   - usesLine: true for tests: use a process even if the kernel can slow the link.
    init(
        _ profile: LinkProfile, in namespaces: borrowing Namespaces, reachesOutside: Bool = true,
        usesLine: Bool = false
    ) throws(ConditionError) {
        let condition = "the network '\(profile.name)'"
        guard profile.nameDelay == 0 else {
            throw .unsupported(
                condition: condition,
                missing: "a link is slowed as a whole, not for name servers alone",
                remedy: "slow all of it, as with --network ,\(Int(profile.nameDelay / 2))ms")
        }
        try Self.setUpLoopback(of: namespaces, condition)
        let near = namespaces.networkSocket(condition)
        let far = namespaces.routerSocket(condition)
        // If all packets are lost, no discipline has to drop them: the far end leads nowhere.
        let isDead = profile.down.loss >= 1 || profile.up.loss >= 1
        var line: LinkLine?
        if !isDead, usesLine || Self.needsLine(profile, far) {
            line = try LinkLine(
                profile,
                from: .init(network: namespaces.network, name: "eth0", index: Index.program),
                to: .init(network: namespaces.router, name: "far0", index: Index.far),
                user: namespaces.user, condition: condition)
        } else {
            try near.ask(
                LinkMessages.cable(
                    name: "eth0", index: Index.program, peerName: "far0", peerIndex: Index.far,
                    peerNamespace: namespaces.router), "making a pair of interfaces (veth)")
        }
        try near.ask(LinkMessages.setUp(index: Index.program), "setting up eth0")
        try far.ask(LinkMessages.setUp(index: Index.far), "setting up the link's far end")
        try near.ask(
            LinkMessages.address(Self.address, prefix: 24, index: Index.program),
            "giving an address")
        try near.ask(
            LinkMessages.defaultRoute(gateway: Self.gateway, index: Index.program),
            "giving a route")
        if !isDead, line == nil {
            try Self.shape(profile.up, near, Index.program, condition)
            try Self.shape(profile.down, far, Index.far, condition)
        }
        // This must come last: nothing may fail after it.
        let relay = try Self.leadOn(
            from: namespaces, isDead: isDead, reachesOutside: reachesOutside, condition)
        (self.line, self.relay) = (line, relay)
    }

    /// Connects the far end.
    private static func leadOn(
        from namespaces: borrowing Namespaces, isDead: Bool, reachesOutside: Bool,
        _ condition: String
    ) throws(ConditionError) -> OutsideRelay? {
        guard !isDead else { return nil }
        let far = namespaces.routerSocket(condition)
        guard reachesOutside else {
            try far.ask(
                LinkMessages.address(Self.gateway, prefix: 24, index: Index.far),
                "giving an address")
            return nil
        }
        let relay = try OutsideRelay(into: namespaces, condition: condition)
        try far.ask(
            LinkMessages.bridge(name: "bridge0", index: Index.bridge), "making a bridge")
        for name in ["far0", OutsideRelay.interface] {
            try far.ask(
                LinkMessages.attach(name: name, toBridge: Index.bridge),
                "attaching \(name) to the bridge")
        }
        return relay
    }

    /// True if the kernel cannot slow a link in this way. Tries it with the unused loopback
    /// interface of a namespace.
    private static func needsLine(
        _ profile: LinkProfile, _ socket: borrowing NetworkSocket
    ) -> Bool {
        for direction in [profile.up, profile.down] {
            guard let trial = Shaping.message(for: direction, index: Index.loopback) else {
                continue
            }
            do throws(NetworkSocket.Refusal) {
                try socket.ask(trial)
            } catch  where error.code == ENOENT || error.code == EOPNOTSUPP {
                // This is the error for an unknown discipline.
                return true
            } catch {}
        }
        return false
    }

    private static func shape(
        _ direction: LinkProfile.Direction, _ socket: borrowing NetworkSocket, _ index: Int32,
        _ condition: String
    ) throws(ConditionError) {
        guard let message = Shaping.message(for: direction, index: index),
            let discipline = Shaping.discipline(for: direction)
        else { return }
        do throws(NetworkSocket.Refusal) {
            try socket.ask(message)
        } catch {
            throw .failed(
                condition: condition, step: "slowing a link (\(discipline) \(error.words))",
                code: error.code)
        }
    }

    /// Our helper processes, which do not belong to the program.
    var helpers: [Int32] { [line?.pid, relay?.pid].compactMap { $0 } }
}

/// A cable for kernels that cannot slow a link: one of our processes delays every frame. It ends
/// with us.
final class LinkLine: Sendable {
    /// One end of it.
    struct End {
        let network: Int32
        let name: String
        let index: Int32
    }

    let pid: Int32
    /// Our end of the pipe that the process watches.
    private let end: Int32

    /// - Parameter user: the user namespace of both ends; -1: ours.
    init(
        _ profile: LinkProfile, from near: End, to far: End, user: Int32, condition: String
    ) throws(ConditionError) {
        var (pid, end): (pid_t, Int32) = (-1, -1)
        let result = near.name.withCString { nearName in
            far.name.withCString { farName in
                var line = fl_line()
                line.user = user
                line.networks = (near.network, far.network)
                line.names = (nearName, farName)
                line.indices = (near.index, far.index)
                line.ways = (Self.way(profile.up), Self.way(profile.down))
                return fl_start_line(&line, &pid, &end)
            }
        }
        guard result == 0 else {
            throw .unsupported(
                condition: condition,
                missing: "this kernel cannot slow a link (it has no sch_netem or no sch_tbf), and "
                    + "/dev/net/tun, which could be used instead, does not work "
                    + "(\(String(cString: strerror(-result))))",
                remedy: "load the modules (modprobe sch_netem sch_tbf, or modprobe tun)")
        }
        (self.pid, self.end) = (pid, end)
    }

    private static func way(_ direction: LinkProfile.Direction) -> fl_line_way {
        fl_line_way(
            rate: direction.rate ?? 0, delay: Int64((direction.delay * 1e6).rounded()),
            loss: Shaping.lostOfAll(direction),
            frames: UInt32(min(Shaping.packetsUnderWay(direction), mostFrames)))
    }

    /// Some 130 MB of frames.
    private static let mostFrames: Int64 = 65_536

    deinit {
        close(end)
        Spawning.awaitEnd(of: pid)
    }
}
