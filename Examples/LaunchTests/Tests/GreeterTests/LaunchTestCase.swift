import LaunchMetric
import XCTest

/// The same with XCTest.
final class LaunchTestCase: XCTestCase {
    func testStaysFast() async throws {
        let launch = try await measureLaunch(of: greeter, baseline: .command([greeter, "--slow"]))
        XCTAssertGreaterThan(launch.wall.median, .zero)
    }

    /// It must fail: `make test` checks that.
    func testSlowerMustFail() async throws {
        try await measureLaunch(of: greeter, arguments: ["--slow"], baseline: .command([greeter]))
    }
}
