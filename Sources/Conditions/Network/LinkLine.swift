import CSystem
import Glibc

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
