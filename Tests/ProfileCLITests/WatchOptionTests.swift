import Glibc
import ProfileCLI
import ProfileModel
import Sampler
import Shipping
import Testing

@testable import Launching

@Suite struct WatchOptionTests {
    private func options(_ line: String) throws -> WatchOptions {
        try WatchOptions(try #require(parsedArguments(line)))
    }

    @Test func theDefaultsOfWatch() throws {
        let usual = try options("watch app server")
        #expect(usual.names == .programs(["app", "server"].compactMap { ProgramName($0) }))
        #expect(usual.keep == 256_000_000 && usual.profileEvery == nil && usual.output == nil)
        #expect(usual.textFolder == nil && usual.server == nil && usual.tellsLaunches)
        #expect(usual.pushEvery == .milliseconds(60_000))
    }

    @Test func everything() throws {
        let full = try options(
            "watch --all -o d --keep 2GB --profile-every 9 --profile-budget 2.5% --textfile t "
                + "--otlp http://localhost --push-every 5s --quiet")
        #expect(full.names == .all && full.output == "d" && full.keep == 2_000_000_000)
        #expect(full.profileEvery == 9 && full.profileBudget == 2.5 && full.textFolder == "t")
        #expect(full.server?.path == "/v1/metrics" && full.pushEvery == .milliseconds(5000))
        #expect(!full.tellsLaunches)
    }

    @Test(arguments: [
        ("watch", "no program given"), ("watch --all app", "'app' does not go with --all"),
        ("watch /opt/app", "'/opt/app' is no program's name"),
        ("watch app --profile-budget 1", "--profile-budget needs --profile-every"),
        ("watch app --push-every 1s", "--push-every needs"),
        ("watch app --otlp ftp://x", "--otlp: not an address"),
        ("watch app --keep 5", "must be a size"), ("watch app --keep 0MB", "must be a size"),
        ("watch app --keep 99999999999GB", "must be a size"),
    ])
    func mistakes(line: String, words: String) throws {
        let finished = try run(line.split(separator: " ").map(String.init))
        #expect(finished.status == 2 && finished.output == "")
        #expect(finished.error.contains(words), "\(finished.error)")
    }

    @Test func theFolder() throws {
        func folder(_ line: String, isRoot: Bool = false, _ set: [String: String]) throws -> String?
        {
            try options(line).folder(isRoot: isRoot) { set[$0] }
        }
        #expect(try folder("watch a -o here", isRoot: true, ["STATE_DIRECTORY": "/s"]) == "here")
        #expect(try folder("watch a", isRoot: true, ["STATE_DIRECTORY": "/s:/t"]) == "/s")
        #expect(try folder("watch a", isRoot: true, [:]) == "/var/lib/firstlight/watch")
        #expect(try folder("watch a", ["XDG_STATE_HOME": "/x"]) == "/x/firstlight/watch")
        let home = try folder("watch a", ["XDG_STATE_HOME": "x", "HOME": "/h"])
        #expect(home == "/h/.local/state/firstlight/watch")
        #expect(try folder("watch a", [:]) == nil)
    }
}
