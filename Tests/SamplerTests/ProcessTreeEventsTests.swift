import CSystem
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// The kernel's events about the processes that one starts.
@Suite struct ProcessTreeEventsTests {
    private static let isPermitted: Bool = {
        let event = fl_open_tree_news(OwnSignposts.thread, 0, SIGURG)
        if event >= 0 { close(event) }
        return event >= 0
    }()

    private static func spawn(_ words: [String]) throws -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var pid: pid_t = 0
        try #require(posix_spawn(&pid, words[0], nil, nil, arguments, environ) == 0)
        return pid
    }

    @Test(
        .enabled(if: isPermitted || isContinuousIntegration, "perf events are not permitted here"))
    func aChildsEventsAreReported() throws {
        let news = try ProcessTreeEvents(of: OwnSignposts.thread)
        let tree = try TreeSamples(
            of: OwnSignposts.thread, interval: 1_000_000, news: news, tellsSwitches: true)
        let pid = try Self.spawn(["/bin/sh", "-c", "exit 7"])
        let open = ProcessHandle(pid)
        var info = siginfo_t()
        // Its end is not taken note of yet.
        try #require(waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == 0)
        var told: [ProcessTreeEvents.News] = []
        for _ in 0..<3 { told += news.take().filter { $0.pid == pid } }
        #expect(told.map(\.tid) == [pid, pid, pid])
        #expect(zip(told, told.dropFirst()).allSatisfy { $0.time < $1.time })
        try #require(told.count == 3)
        guard case .began(let creator, let handle?) = told[0].kind,
            case .executed("sh") = told[1].kind, case .ended = told[2].kind
        else {
            Issue.record("\(told.map(\.kind))")
            return
        }
        #expect(creator == getpid())
        #expect(handle.outcome == .exited(7) && handle.isThere == true)
        tree.followCode(of: pid)
        let code = tree.takeCode(of: pid)
        #expect(code.contains { $0.path.hasSuffix("sh") && $0.inode != 0 })
        #expect(code.allSatisfy { $0.start < $0.end })
        // Another name for the same file is the one by which it was called.
        let first = try #require(tree.firstCode(of: pid, after: told[1].time) ?? code.first)
        #expect(first.path(called: "sh").hasSuffix("/sh"))
        #expect(first.path(called: "nobody is called so") == first.path)
        #expect(first.path(called: "cat") == first.path)
        let switches = tree.takeSwitches(isLast: true).filter { $0.tid == pid }
        #expect(zip(switches, switches.dropFirst()).allSatisfy { $0.time <= $1.time })
        #expect(switches.first?.kind == .began(creator: OwnSignposts.thread))
        #expect(switches.contains { if case .arrived = $0.kind { true } else { false } })
        #expect(switches.contains { $0.kind == .ended })
        // Once it is gone, only a handle that was opened before can know.
        var status: Int32 = 0
        #expect(waitpid(pid, &status, 0) == pid)
        #expect(open.isThere == false && handle.isThere == false)
        #expect([.exited(7), nil].contains(open.outcome))
        #expect(ProcessHandle(pid).outcome == nil)
        #expect(news.lost == 0)
    }

    @Test func aMissingProcessHasNoEvents() {
        #expect(throws: SystemError.self) { try ProcessTreeEvents(of: .max) }
        #expect(ProcessHandle(.max).isThere == nil && ProcessHandle(.max).outcome == nil)
        #expect(ProcessHandle(getpid()).isThere == true && ProcessHandle(getpid()).outcome == nil)
    }
}
