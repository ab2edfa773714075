import LaunchMetric
import Testing

@Suite(.serialized) struct LaunchTests {
    /// Against the program as it was before its slow work went: a test of yours would hold the program
    /// against the one of the last release.
    @Test func staysFast() async throws {
        let launch = try await measureLaunch(of: greeter, baseline: .command([greeter, "--slow"]))
        #expect(launch.wall.median > .zero)
        #expect(launch.phases.contains { $0.name == "Main" })
    }

    /// It must fail: `make test` sees to that.
    @Test func slowerMustFail() async throws {
        try await measureLaunch(of: greeter, arguments: ["--slow"], baseline: .command([greeter]))
    }
}
