import Foundation
import Testing

/// All end-to-end tests. They run the program that users install, named by the environment variable
/// FIRSTLIGHT, on the programs in FIXTURES and STARS. `make test` builds and sets all of these.
///
/// Without the variable they are skipped, but in continuous integration (CI is `true`) they fail.
@Suite(
    Company(),
    .requires(
        Setup.names(.firstlight), "FIRSTLIGHT does not name the program to test; run 'make test'"))
enum EndToEnd {}

/// What the environment says about this test run.
enum Setup {
    enum Variable: String {
        case firstlight = "FIRSTLIGHT"
        case fixtures = "FIXTURES"
        case stars = "STARS"
    }

    struct Missing: Error, CustomStringConvertible {
        var name: String
        var description: String { "\(name) is not set; run 'make test'" }
    }

    static let environment = ProcessInfo.processInfo.environment
    static let isContinuousIntegration = environment["CI"] == "true"
    static let isRoot = geteuid() == 0

    static func names(_ variable: Variable) -> Bool { environment[variable.rawValue] != nil }

    static func path(_ variable: Variable) throws -> String {
        guard let path = environment[variable.rawValue] else {
            throw Missing(name: variable.rawValue)
        }
        return path
    }

    /// Ends a test that is impossible here: skipped, or failed in continuous integration.
    static func skip(_ reason: String) throws -> Never {
        if isContinuousIntegration { throw Command.Failure(description: reason) }
        try Test.cancel(Comment(rawValue: reason))
    }

    static func fixture(_ name: String) throws -> String { try path(.fixtures) + "/" + name }

    static func star(_ name: String) throws -> String { try path(.stars) + "/" + name }
}

/// Programs that some tests need besides the fixtures.
enum Tool {
    /// Tools that `make test` installs: in continuous integration they must exist.
    private static let installed = [
        "go", "gdb", "git", "musl-gcc", "perl", "python3", "strace", "sqlite3", "setpriv",
        "setsid", "Xvfb", "perf", "node", "objcopy", "readelf", "xmllint",
        "zsh", "fish", "mandoc", "weston", "mousepad", "featherpad",
    ]

    /// The first file of this name in PATH.
    static func find(_ name: String) -> String? {
        let folders = (Setup.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    static func isExpected(_ name: String) -> Bool {
        find(name) != nil || (Setup.isContinuousIntegration && installed.contains(name))
    }
}

extension Trait where Self == ConditionTrait {
    static func needs(_ tool: String) -> Self {
        .enabled(if: Tool.isExpected(tool), "\(tool) is not installed")
    }

    static var needsRoot: Self {
        requires(Setup.isRoot, "only root can set this up")
    }

    /// Without its requirement a test is skipped for the given reason; in continuous integration it
    /// runs and fails.
    static func requires(_ isThere: Bool, _ reason: Comment) -> Self {
        .enabled(if: isThere || Setup.isContinuousIntegration, reason)
    }
}
