package import Analysis
import Exports

/// A history for people and for programs. Pure: the same values give the same bytes. All texts end
/// in a line break.
package enum HistoryReport {
    /// For a terminal; among the options only width and colours count.
    package static func text(
        _ history: LaunchHistory, options: TextOptions = TextOptions()
    ) -> String {
        let sections = history.series.map {
            HistorySection(history: history, series: $0, options: options).render()
        }
        let notes = history.namesakes.map { names in
            let list = names.map(\.escapedForDisplay).joined(separator: ", ")
            return
                (list + " are different programs here, because their names differ. Versions of one "
                + "program are one series if all are measured under one name, each with --version-name.")
                .wrapped(to: options.columns)
        }
        return (sections + notes).joined(separator: "\n")
    }

    /// By the schema in `docs/json.md`, which may only grow.
    package static func json(_ history: LaunchHistory) -> String {
        HistoryJSON(history: history).render()
    }

    /// One self-contained page, in UTF-8.
    package static func html(_ history: LaunchHistory) -> [UInt8] {
        HistoryPage(history: history).render()
    }
}
