import CSystem
import Glibc

/// posix_spawn(3) for our helpers.
enum Spawning {
    /// Waits for a helper that was just asked to end, and kills it if it does not.
    static func awaitEnd(of pid: pid_t) {
        var status: Int32 = 0
        guard fl_wait_briefly(pid, &status) == 0 else { return }
        kill(pid, SIGKILL)
        _ = fl_wait(pid, 0, &status)
    }

    /// Starts `words[0]`, looked up in PATH, in its own process group, with no signal blocked, and
    /// with default actions for the signals that programs expect to end them.
    ///
    /// - Parameters:
    ///   - environment: `NAME=value` words; nil: ours.
    ///   - prepare: sets the program's descriptors.
    /// - Returns: 0 or an `errno`.
    static func spawn(
        _ pid: inout pid_t, _ words: [String], environment: [[UInt8]]? = nil,
        prepare: (inout posix_spawn_file_actions_t) -> Void
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        prepare(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGINT, SIGTERM, SIGXFSZ] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        var variables: [UnsafeMutablePointer<CChar>?] = (environment ?? []).map { word in
            strdup(word.map { CChar(bitPattern: $0) } + [0])
        }
        variables.append(nil)
        defer { for word in arguments + variables { free(word) } }
        guard let name = arguments[0] else { return EINVAL }
        guard environment != nil else {
            return posix_spawnp(&pid, name, &actions, &attributes, &arguments, environ)
        }
        return posix_spawnp(&pid, name, &actions, &attributes, &arguments, &variables)
    }

    /// Our own environment, without final zeros.
    static var environment: [[UInt8]] {
        var words: [[UInt8]] = []
        var next = environ
        while let word = next.pointee {
            words.append(
                word.withMemoryRebound(to: UInt8.self, capacity: strlen(word)) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen(word)))
                })
            next += 1
        }
        return words
    }

    /// The path of a program; nil: PATH has none with that name. Administrators' folders are
    /// searched, too: they are not in every user's PATH.
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let folders = path.split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/sbin", "/usr/bin"]).map { "\($0)/\(name)" }.first {
            access($0, X_OK) == 0
        }
    }
}
