import Glibc

/// Why a command, or a replacement for one, failed a test's needs.
public struct CommandFailure: Error {
    public var command: [String]
    /// As waitpid(2) has it, or an error number.
    public var status: Int32

    public init(command: [String], status: Int32) {
        (self.command, self.status) = (command, status)
    }
}

/// Starts a command with no signal blocked, as a shell would: threads of a test's own pool block
/// nearly all.
///
/// - Parameters:
///   - input: its descriptor 0; nil: that of the tests.
///   - output: the file that its descriptor 1 is; made, or made empty.
public func spawn(_ command: [String], input: Int32?, output: String) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    sigemptyset(&mask)
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
    words.append(nil)
    defer { words.forEach { free($0) } }
    var child: pid_t = 0
    let problem = posix_spawnp(&child, command[0], &actions, &attributes, words, environ)
    guard problem == 0 else { throw CommandFailure(command: command, status: problem) }
    return child
}
