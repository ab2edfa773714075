import Foundation

/// The initialisers and libraries of a JSON report.
package struct LaunchParts: Decodable {
    package struct Initializer: Decodable {
        package var function: String
        package var module: String
        package var file: String?
        package var line: Int?
        package var startNs: Int64
        package var wallNs: Int64
        package var cpuNs: Int64
    }

    package struct Library: Decodable {
        package var path: String
        package var startNs: Int64
        package var wallNs: Int64?
        package var requestedBy: String?
        package var referenced: Bool?
    }

    package var initializers: [Initializer]
    package var libraries: [Library]

    package func library(_ name: String) -> Library? {
        libraries.first { $0.path.hasSuffix("/" + name) }
    }
}

extension Recorded {
    package func parts() throws -> LaunchParts {
        let text = try text("report", ["--format", "json"])
        return try JSONDecoder().decode(LaunchParts.self, from: Data(text.utf8))
    }
}
