package import Analysis

/// A history for people and for programs. Pure: the same values give the same bytes. All texts end
/// in a line break.
package enum HistoryReport {
    /// For a terminal; among the options only width and colours count.
    package static func text(
        _ history: LaunchHistory, options: TextOptions = TextOptions()
    ) -> String {
        history.series.map {
            HistorySection(history: history, series: $0, options: options).render()
        }.joined(separator: "\n")
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
