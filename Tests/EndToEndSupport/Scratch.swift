import Foundation
import Glibc
package import TestSupport

package typealias Scratch = TestSupport.Scratch

extension Scratch {
    /// The path of a file in it.
    package func callAsFunction(_ name: String) -> String { path(name) }

    package func contents(of name: String) -> String? {
        FileManager.default.contents(atPath: path(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    package func has(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    /// The lines `name number` that a fixture wrote about itself.
    package func truth(_ name: String = "truth") throws -> [String: Int64] {
        guard let text = contents(of: name) else {
            throw Command.Failure(description: "the program wrote no truth")
        }
        var truth: [String: Int64] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2 { truth[String(parts[0])] = Int64(parts[1]) }
        }
        return truth
    }
}
