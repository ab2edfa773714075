import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Initialisers of Go packages, which the runtime calls from a loop of its own.
@Suite struct GoInitializerTests {
    private typealias Spot = RecordingBuilder.Spot

    /// Each initialiser with the milliseconds that it computes; the loop may call itself, as older ones
    /// do for the packages that a package imports.
    private func launch(
        _ initializers: [(name: String, milliseconds: Int64)], loop: [String] = ["runtime.doInit"]
    ) -> FindingLaunch {
        var launch = FindingLaunch()
        var time: Int64 = 150
        for initializer in initializers {
            let spots =
                (["runtime.main"] + loop + [initializer.name, "regexp.MustCompile"]).map {
                    Spot($0)
                }
            for _ in 0..<initializer.milliseconds {
                launch.run(launch.main, at: time, running: 1, in: spots)
                time += 1
            }
        }
        return launch
    }

    @Test(arguments: [
        ["runtime.doInit"], ["runtime.doInit", "runtime.doInit"], ["runtime.doInit1"],
    ])
    func eachThatIsHeavy(loop: [String]) {
        let launch = launch(
            [("main.init.0", 60), ("example.com/a.init", 30), ("example.com/b.init", 19)],
            loop: loop)
        let found = launch.findings
        #expect(found.map(\.kind) == [.initializer, .initializer])
        #expect(found.map(launch.profile.name) == ["main.init.0", "example.com/a.init"])
        #expect(found.map(\.saving) == [.milliseconds(60), .milliseconds(30)])
    }

    @Test func otherFunctionsNamedInitAreNoInitialisers() {
        var launch = FindingLaunch()
        for time in 150..<250 as Range<Int64> {
            launch.run(
                launch.main, at: time, running: 1,
                in: [Spot("main.main"), Spot("main.init.0"), Spot("regexp.MustCompile")])
        }
        #expect(launch.findings.isEmpty)
    }
}
