import Foundation
package import Testing

/// What the environment says about this test run.
package enum Setup {
    package enum Variable: String {
        case firstlight = "FIRSTLIGHT"
        case fixtures = "FIXTURES"
        case stars = "STARS"
    }

    package struct Missing: Error, CustomStringConvertible {
        package var name: String

        package init(name: String) { self.name = name }

        package var description: String { "\(name) is not set; run 'make test'" }
    }

    package static let environment = ProcessInfo.processInfo.environment
    package static let isContinuousIntegration = environment["CI"] == "true"
    package static let isRoot = geteuid() == 0

    package static func names(_ variable: Variable) -> Bool {
        environment[variable.rawValue] != nil
    }

    package static func path(_ variable: Variable) throws -> String {
        guard let path = environment[variable.rawValue] else {
            throw Missing(name: variable.rawValue)
        }
        return path
    }

    /// Ends a test that is impossible here: skipped, or failed in continuous integration.
    package static func skip(_ reason: String) throws -> Never {
        if isContinuousIntegration { throw Command.Failure(description: reason) }
        try Test.cancel(Comment(rawValue: reason))
    }

    package static func fixture(_ name: String) throws -> String {
        try path(.fixtures) + "/" + name
    }

    package static func star(_ name: String) throws -> String { try path(.stars) + "/" + name }
}

/// Programs that some tests need besides the fixtures.
package enum Tool {
    /// Tools that `make test` installs: in continuous integration they must exist.
    private static let installed = [
        "go", "gdb", "git", "musl-gcc", "perl", "python3", "strace", "sqlite3", "setpriv",
        "setsid", "Xvfb", "perf", "node", "objcopy", "readelf", "xmllint",
        "zsh", "fish", "mandoc", "weston", "mousepad", "featherpad", "unshare",
    ]

    /// The first file of this name in PATH.
    package static func find(_ name: String) -> String? {
        let folders = (Setup.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    package static func isExpected(_ name: String) -> Bool {
        find(name) != nil || (Setup.isContinuousIntegration && installed.contains(name))
    }
}

extension Trait where Self == ConditionTrait {
    package static func needs(_ tool: String) -> Self {
        .enabled(if: Tool.isExpected(tool), "\(tool) is not installed")
    }

    package static var needsRoot: Self {
        requires(Setup.isRoot, "only root can set this up")
    }

    /// Without its requirement a test is skipped for the given reason; in continuous integration it
    /// runs and fails.
    package static func requires(_ isThere: Bool, _ reason: Comment) -> Self {
        .enabled(if: isThere || Setup.isContinuousIntegration, reason)
    }
}
