import Foundation

/// The initialisers and libraries of a JSON report.
struct LaunchParts: Decodable {
    struct Initializer: Decodable {
        var function: String
        var module: String
        var file: String?
        var line: Int?
        var startNs: Int64
        var wallNs: Int64
        var cpuNs: Int64
    }

    struct Library: Decodable {
        var path: String
        var startNs: Int64
        var wallNs: Int64?
        var requestedBy: String?
        var referenced: Bool?
    }

    var initializers: [Initializer]
    var libraries: [Library]

    func library(_ name: String) -> Library? { libraries.first { $0.path.hasSuffix("/" + name) } }
}

extension Recorded {
    func parts() throws -> LaunchParts {
        let text = try text("report", ["--format", "json"])
        return try JSONDecoder().decode(LaunchParts.self, from: Data(text.utf8))
    }
}
