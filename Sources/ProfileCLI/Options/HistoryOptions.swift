package import Analysis
package import ClickHouse
package import ProfileModel

package enum HistoryFormat: String, CaseIterable, Sendable {
    case text, json, html
}

/// The options of `history`.
package enum HistoryOptions: Sendable {
    case show(Showing)
    case add(files: [String], folder: String)

    package struct Showing: Sendable {
        /// Files and folders, at least one; for a store, names of programs.
        package var sources: [String]
        package var grouping: LaunchHistory.Grouping
        package var machines: LaunchHistory.Machines
        /// nil: files.
        package var store: StoreAddress?
        package var goal: TimeSpan?
        package var format: HistoryFormat
        /// nil: standard output.
        package var output: String?
        package var showsTimings: Bool
    }

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        let added = arguments.texts(.add)
        guard added.isEmpty else {
            self = .add(files: added, folder: try Self.folder(arguments))
            return
        }
        if arguments.isGiven(.to) { throw UsageError(.history, "--to goes with --add only") }
        let store = try arguments.text(.from).map { text throws(UsageError) in
            try ShipOptions.store(text, "from", .history)
        }
        guard store != nil || !arguments.operands.isEmpty else {
            throw UsageError(
                .history, "no folder or file given" + UsageError.seeHelp(.history))
        }
        self = .show(
            Showing(
                sources: arguments.operands,
                grouping: arguments.text(.by).flatMap(LaunchHistory.Grouping.init) ?? .version,
                machines: arguments.text(.machines).flatMap(LaunchHistory.Machines.init)
                    ?? (store == nil ? .each : .alike),
                store: store,
                goal: arguments.duration(.goal),
                format: arguments.text(.format).flatMap(HistoryFormat.init) ?? .text,
                output: arguments.text(.output), showsTimings: arguments.isGiven(.timings)))
    }

    /// The folder to which measurements are added. An option without effect is an error.
    private static func folder(_ arguments: ParsedArguments) throws(UsageError) -> String {
        guard let folder = arguments.text(.to) else {
            throw UsageError(.history, "--add needs the folder: --to DIR")
        }
        if let operand = arguments.operands.first {
            throw UsageError(
                .history,
                "'\(operand)' does not go with --add, which shows nothing; each file needs an --add"
            )
        }
        let idle: [OptionName] = [.by, .machines, .from, .goal, .format, .output, .timings]
        let given = OptionTable.options(of: .history).first {
            idle.contains($0.name) && arguments.isGiven($0.name)
        }
        if let given {
            throw UsageError(
                .history, "--\(given.long) does not go with --add, which shows nothing")
        }
        return folder
    }
}
