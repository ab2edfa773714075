import CSystem
import Glibc

/// Our own namespaces. The kernel removes them with all their content when no process is in them or
/// holds them open: at our end, however we end. Ordinary users get them inside their own user
/// namespace, where they keep their identity. There, other users' files seem to belong to the user
/// "nobody", and programs gain no privileges.
struct Namespaces: ~Copyable {
    /// The namespaces to make.
    struct Wanted {
        var network = false
        /// Another network namespace, for the far end of a link.
        var router = false
        /// The files to mount, and the files over which they are mounted: needs a mount namespace.
        var binds: [(source: String, target: String)] = []
    }

    private let made: fl_namespaces

    init(_ wanted: Wanted, condition: String) throws(ConditionError) {
        var made = fl_namespaces()
        made.wants_network = wanted.network ? 1 : 0
        made.wants_router = wanted.router ? 1 : 0
        let words = wanted.binds.map { (strdup($0.source), strdup($0.target)) }
        defer { for word in words { free(word.0); free(word.1) } }
        let binds = words.map {
            fl_bind(source: UnsafePointer($0.0), target: UnsafePointer($0.1))
        }
        let result = binds.withUnsafeBufferPointer { binds in
            made.binds = binds.baseAddress
            made.bind_count = Int32(binds.count)
            return fl_make_namespaces(&made)
        }
        made.binds = nil
        guard result == 0 else {
            let bind =
                wanted.binds.indices.contains(Int(made.failed_bind))
                ? wanted.binds[Int(made.failed_bind)].target : ""
            throw Self.explain(made, code: -result, bind: bind, condition: condition)
        }
        self.made = made
    }

    deinit {
        for descriptor in [
            made.user, made.network, made.network_control, made.router, made.router_control,
            made.mounts,
        ] where descriptor >= 0 {
            close(descriptor)
        }
    }

    private static func explain(
        _ made: fl_namespaces, code: Int32, bind: String, condition: String
    ) -> ConditionError {
        let step = fl_namespace_step(UInt32(bitPattern: made.failed_step))
        switch step {
        case fl_step_user, fl_step_map:
            return .unsupported(
                condition: condition,
                missing: "the kernel gives this user no namespaces "
                    + "(\(String(cString: strerror(code))))",
                remedy: "run as root, or allow user namespaces (sysctl user.max_user_namespaces, "
                    + "kernel.unprivileged_userns_clone, "
                    + "kernel.apparmor_restrict_unprivileged_userns; in a container: "
                    + "--cap-add=SYS_ADMIN)")
        case fl_step_network:
            return .failed(condition: condition, step: "making a network namespace", code: code)
        case fl_step_mounts:
            return .failed(condition: condition, step: "making a mount namespace", code: code)
        case fl_step_bind:
            return .failed(
                condition: condition, step: "showing another file as \(bind)", code: code)
        default:
            return .failed(condition: condition, step: "starting a process", code: code)
        }
    }

    /// In the order in which a program enters them.
    var entered: [Int32] {
        [made.user, made.network, made.mounts].filter { $0 >= 0 }
    }
    var changesMounts: Bool { made.mounts >= 0 }

    /// -1: there is none.
    var user: Int32 { made.user }
    var network: Int32 { made.network }
    var router: Int32 { made.router }

    /// A new socket for changing the network.
    func networkSocket(_ condition: String) -> NetworkSocket {
        NetworkSocket(descriptor: Self.copy(made.network_control), condition: condition)
    }
    func routerSocket(_ condition: String) -> NetworkSocket {
        NetworkSocket(descriptor: Self.copy(made.router_control), condition: condition)
    }

    private static func copy(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
}
