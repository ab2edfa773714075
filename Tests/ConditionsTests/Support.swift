import CSystem
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Conditions
@testable import Launching
@testable import Sampler

/// All tests that launch programs, one after the other: two limits of a disk at once would measure
/// each other.
@Suite(.serialized) struct LaunchedTests {}

let python = FileText.real("/usr/bin/python3") ?? ""
let isRoot = geteuid() == 0

/// A folder on a disk that goes with the test.
struct TestFolder {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(in: "/var/tmp", prefix: "firstlight-test", condition: "a test")
    }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o755)
        try #require(file >= 0)
        #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
        close(file)
        return path(name)
    }

    /// A program that no other process runs, so that it can leave the cache.
    func copyOfPython() throws -> String {
        let result = Command(words: ["cp", python, path("python")], limit: .milliseconds(60_000))
            .run()
        try #require(result.hasSucceeded)
        return path("python")
    }
}

/// A child in a setting, held until ``release()``.
final class TestLaunch {
    let pid: Int32
    let listener: Int32
    private var release: Int32 = -1
    private let output: Int32
    private var isOver = false

    init(_ words: [String], in setting: ChildSetting) throws {
        var ends: [Int32] = []
        try #require(makePipe(&ends) == 0)
        output = ends[0]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        let changed = EnvironmentChange.apply(setting.environment, to: Spawning.environment)
        var variables: [UnsafeMutablePointer<CChar>?] = changed.map { word in
            strdup(word.map { CChar(bitPattern: $0) } + [0])
        }
        variables.append(nil)
        defer { for word in arguments + variables { free(word) } }
        var mask = sigset_t()
        sigemptyset(&mask)
        var (release, failure, listener): (Int32, Int32, Int32) = (-1, -1, -1)
        var error: Int32 = 0
        let start = try #require(
            fl_make_start(
                words[0], arguments, variables, [ends[1], ends[1]], &mask, 0, -1, -1, &error))
        defer { fl_free_start(start) }
        let pid = setting.withEntry(listener: &listener) { entry in
            fl_fork_held(start, entry, &release, &failure)
        }
        close(ends[1])
        if failure >= 0 { close(failure) }
        self.pid = pid
        self.release = release
        self.listener = listener
        if pid <= 0 {
            isOver = true
            Issue.record("entering the setting: \(String(cString: strerror(-pid)))")
        }
        try #require(pid > 0)
    }

    deinit {
        close(output)
        guard !isOver else { return }
        kill(pid, SIGKILL)
        var status: Int32 = 0
        _ = fl_wait(pid, 0, &status)
    }

    func start() { fl_release_held(release) }

    /// The first line that it writes.
    func line() throws -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits for its end.
    func end() throws -> (output: String, status: Int32, readBytes: Int64) {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while case let count = read(output, &part, part.count), count > 0 { all += part[..<count] }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
        isOver = true
        return (String(decoding: all, as: UTF8.self), status, Int64(usage.ru_inblock) * 512)
    }

    /// From its start to its end.
    static func run(
        _ words: [String], in setting: ChildSetting = ChildSetting()
    ) throws -> (output: String, status: Int32, readBytes: Int64) {
        let launch = try TestLaunch(words, in: setting)
        launch.start()
        return try launch.end()
    }
}
