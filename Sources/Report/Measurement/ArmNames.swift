import Exports
import ProfileModel

/// The names of the arms in reports: as short as possible, but different.
struct ArmNames: Sendable {
    private var names: [String]

    init(_ arms: [MeasuredArm]) {
        let choices = [arms.map { String($0.name) }, arms.map(\.commandLine), arms.map(\.path)]
            .map { names in names.map { $0.escapedForDisplay.shortened(to: Self.longest) } }
        let distinct = choices.first { Set($0).count == arms.count && !$0.contains("") }
        names = distinct ?? Self.numbered(choices[0])
    }

    /// For one program and a stored baseline with another name.
    init(_ arms: [MeasuredArm], against baseline: String) {
        self.init(named: [ArmNames(Array(arms.prefix(1)))[0], baseline])
    }

    /// For names given by the caller.
    init(named names: [String]) {
        self.names = names.map { $0.escapedForDisplay.shortened(to: Self.longest) }
    }

    private static func numbered(_ names: [String]) -> [String] {
        names.count == 1 ? ["program"] : names.enumerated().map { "\($1) (\($0 + 1))" }
    }

    private static let longest = 40

    subscript(arm: Int) -> String { names.indices ~= arm ? names[arm] : "" }

    var count: Int { names.count }

    /// "new", "new against old"
    var title: String { names.isEmpty ? "measurement" : names.joined(separator: " against ") }
}

extension MeasuredArm {
    /// In the form that a shell accepts: words with special characters are quoted.
    var commandLine: String { command.map(Self.quoted).joined(separator: " ") }

    /// The same for display, with the path of the program's file if the command does not show it.
    var commandAndPath: String {
        (commandLine + (command.first == path ? "" : " (\(path))")).escapedForDisplay
    }

    private static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || "0123456789@%+=:,./_-".unicodeScalars.contains($0)
        }
        guard word.isEmpty || !isPlain else { return word }
        let parts = word.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: "'\\''") + "'"
    }
}
