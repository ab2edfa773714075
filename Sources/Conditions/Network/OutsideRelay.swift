import Glibc

/// slirp4netns(1): it passes on the traffic of an interface in a namespace through its own sockets,
/// as an ordinary process may. It needs no root, and leaves the machine's network, routes and
/// firewall unchanged. It ends with us, because its `--exit-fd` is closed then.
final class OutsideRelay: Sendable {
    static let interface = "tap0"
    let pid: Int32
    /// Our end of the pipe that the process watches.
    private let exit: Int32

    init(into namespaces: borrowing Namespaces, condition: String) throws(ConditionError) {
        guard let program = Spawning.find("slirp4netns") else {
            throw .unsupported(
                condition: condition,
                missing: "slirp4netns, which leads out of the namespace, is not installed",
                remedy: "install it (apt-get install slirp4netns)")
        }
        guard access("/dev/net/tun", R_OK | W_OK) == 0 else {
            throw .unsupported(
                condition: condition,
                missing: "/dev/net/tun cannot be opened (\(String(cString: strerror(errno))))",
                remedy: "run as root, or: modprobe tun; chmod 666 /dev/net/tun; in a container: "
                    + "--device /dev/net/tun")
        }
        var ready: [Int32] = []
        var ends: [Int32] = []
        let shortage = makePipe(&ready)
        guard shortage == 0 else {
            throw .failed(condition: condition, step: "making a pipe", code: shortage)
        }
        defer { close(ready[0]) }
        let another = makePipe(&ends)
        guard another == 0 else {
            close(ready[1])
            throw .failed(condition: condition, step: "making a pipe", code: another)
        }
        // Descriptor numbers that we do not use otherwise.
        let numbers: (ready: Int32, exit: Int32, user: Int32, network: Int32) = (200, 201, 202, 203)
        var words = [
            program, "--mtu=1500", "--ready-fd=\(numbers.ready)", "--exit-fd=\(numbers.exit)",
            "--netns-type=path",
        ]
        if namespaces.user >= 0 { words.append("--userns-path=/proc/self/fd/\(numbers.user)") }
        words += ["/proc/self/fd/\(numbers.network)", Self.interface]
        var pid: pid_t = 0
        let (user, router) = (namespaces.user, namespaces.router)
        let problem = Spawning.spawn(&pid, words) { actions in
            for (number, path) in [(0, "/dev/null"), (1, "/dev/null"), (2, "/dev/null")] {
                posix_spawn_file_actions_addopen(&actions, Int32(number), path, O_RDWR, 0)
            }
            posix_spawn_file_actions_adddup2(&actions, ready[1], numbers.ready)
            posix_spawn_file_actions_adddup2(&actions, ends[0], numbers.exit)
            posix_spawn_file_actions_adddup2(&actions, router, numbers.network)
            if user >= 0 { posix_spawn_file_actions_adddup2(&actions, user, numbers.user) }
        }
        close(ready[1])
        close(ends[0])
        self.pid = pid
        exit = ends[1]
        guard problem == 0 else {
            throw .failed(condition: condition, step: "starting \(program)", code: problem)
        }
        var watched = pollfd(fd: ready[0], events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        // It writes a 1 when it is ready; if it ends, the pipe is closed.
        guard poll(&watched, 1, 10_000) == 1, read(ready[0], &byte, 1) == 1 else {
            throw .unsupported(
                condition: condition, missing: "slirp4netns could not open its interface",
                remedy: "try it by hand: unshare -rn sleep 60 & slirp4netns -c $! tap0")
        }
    }

    deinit {
        close(exit)
        guard pid > 0 else { return }
        Spawning.awaitEnd(of: pid)
    }
}
