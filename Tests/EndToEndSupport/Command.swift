package import Foundation
import Glibc
import TestSupport

/// A command, its streams, and the descriptors that it inherits.
///
/// Its process leads its own group. All signals are unblocked and have their default actions, and
/// only the descriptors named here are open.
package struct Command {
    package enum Input {
        case nothing
        case text(String)
        case descriptor(Int32)
    }

    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        package init(description: String) { self.description = description }
    }

    package var words: [String]
    package var environment = Setup.environment
    package var directory: String?
    package var input = Input.nothing
    /// nil: captured for ``Finished``.
    package var output: Int32?
    package var error: Int32?
    /// These become descriptors 3, 4 …
    package var inherited: [Int32] = []

    package init(_ words: [String], adding variables: [String: String] = [:]) {
        self.words = words
        // Tests must neither write to the user's symbol cache nor read it. `make test` gives them one.
        environment["FIRSTLIGHT_CACHE"] = Setup.environment["TEST_CACHE"] ?? ""
        for name in Self.users { environment[name] = nil }
        environment.merge(variables) { $1 }
    }

    /// The user's settings for programs, which must not affect tests: nothing is shown on the
    /// user's screen, fetched from the user's servers, or formatted to the user's taste.
    private static let users = [
        "DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "http_proxy", "https_proxy", "HTTP_PROXY",
        "HTTPS_PROXY", "DEBUGINFOD_URLS", "NO_COLOR",
    ]

    /// Runs it to its end.
    package func run(limit: TimeInterval = 300) throws -> Finished {
        try start().finish(limit: limit)
    }

    package func start() throws -> Child {
        let output = try CapturedStream(self.output)
        let error = try CapturedStream(self.error)
        let input = try inputStream()
        defer { input.close() }
        let standard = [input.descriptor, output.descriptor, error.descriptor]
        return Child(
            pid: try spawn(streams: standard + inherited), name: words.joined(separator: " "),
            output: output, error: error)
    }

    private func inputStream() throws -> CapturedStream {
        switch input {
        case .nothing: return try CapturedStream(path: "/dev/null")
        case .descriptor(let descriptor): return try CapturedStream(descriptor)
        case .text(let text):
            let stream = try CapturedStream(nil)
            try stream.fill(text)
            return stream
        }
    }

    private func spawn(streams: [Int32]) throws -> pid_t {
        // Moves them away from the numbers that they will get.
        let sources = streams.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
        defer { sources.forEach { close($0) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, source) in sources.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, source, Int32(number))
        }
        for number in Self.openDescriptors where number >= sources.count {
            posix_spawn_file_actions_addclose(&actions, number)
        }
        var attributes = Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }

        // env becomes the command: there is no portable call to spawn in a directory.
        let words = directory.map { ["env", "--chdir=\($0)"] + self.words } ?? self.words
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var pid: pid_t = 0
        let code = ProcessStart.alone {
            posix_spawnp(&pid, words.first ?? "", &actions, &attributes, &arguments, &variables)
        }
        guard code == 0 else {
            throw Failure(description: "\(words): \(String(cString: strerror(code)))")
        }
        return pid
    }

    /// Descriptors of this process, of which some may be closed meanwhile.
    private static var openDescriptors: [Int32] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return (names ?? []).compactMap { Int32($0) }
    }

    /// No command of another test inherits descriptors that are opened here.
    package static func whileNoneStarts<Result>(_ open: () -> Result) -> Result {
        ProcessStart.alone(open)
    }

    private static func attributes() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return attributes
    }
}

/// A command's standard stream: a descriptor that it borrows, or a nameless file.
package struct CapturedStream {
    package let descriptor: Int32
    private let isOwned: Bool

    package init(_ borrowed: Int32?) throws {
        isOwned = borrowed == nil
        if let borrowed {
            descriptor = borrowed
            return
        }
        var name = Array("/tmp/firstlight-stream-XXXXXX".utf8CString)
        descriptor = Command.whileNoneStarts {
            let descriptor = mkstemp(&name)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return descriptor
        }
        guard descriptor >= 0 else { throw Command.Failure(description: "no temporary file") }
        unlink(name)
    }

    package init(path: String) throws {
        isOwned = true
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Command.Failure(description: "cannot open \(path)") }
    }

    package func fill(_ text: String) throws {
        var text = text
        let written = text.withUTF8 { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard written == text.utf8.count else { throw Command.Failure(description: "cannot write") }
    }

    /// The output, if the file is ours.
    package func contents() -> String {
        guard isOwned else { return "" }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let bytes = [UInt8](unsafeUninitializedCapacity: max(size, 0)) { buffer, count in
            count = max(pread(descriptor, buffer.baseAddress, buffer.count, 0), 0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package func close() { if isOwned { Glibc.close(descriptor) } }
}
