import CResources

/// The pages' own files, from the `Page` folder.
enum PageBundle {
    /// The files of a recording's page.
    static var launch: PageFiles {
        PageFiles(
            skeleton: text(fl_page_html), script: script(launchModules),
            style: bytes(fl_page_css))
    }

    /// The files of a measurement's page: a recording's style sheet with additions.
    static var measurement: PageFiles {
        PageFiles(
            skeleton: text(fl_measurement_html), script: script(measurementModules),
            style: bytes(fl_page_css) + bytes(fl_measurement_css))
    }

    /// The files of a comparison's page, with the skeleton of a recording's page.
    static var comparison: PageFiles {
        PageFiles(
            skeleton: text(fl_page_html), script: script(comparisonModules),
            style: bytes(fl_page_css) + bytes(fl_comparison_css))
    }

    /// The modules of pages with a timeline, in the order of their dependencies.
    private static let timelineModules = [
        fl_format_js, fl_launch_js, fl_dom_js,
        fl_values_js, fl_start_js, fl_legend_js,
        fl_table_js, fl_boxes_js, fl_lanes_js,
        fl_timeline_js,
    ]

    private static let launchModules =
        timelineModules + [
            fl_totals_js, fl_forest_js, fl_state_js,
            fl_source_js, fl_heaviest_js, fl_tree_js,
            fl_flame_js, fl_facts_js, fl_answer_js, fl_main_js,
        ]

    private static let measurementModules = [
        fl_dom_js, fl_measurement_js,
    ]

    private static let comparisonModules =
        timelineModules + [
            fl_compared_js, fl_sides_js,
            fl_differential_js, fl_changes_js,
            fl_comparison_js,
        ]

    /// All modules as one, since a page opened from a disk cannot import others. Each import must
    /// be on a line of its own, and names must be unique among all modules.
    private static func script(_ modules: [fl_resource_t]) -> [UInt8] {
        var result: [UInt8] = []
        for line in modules.map(bytes).joined().split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "import ".utf8) { continue }
            result +=
                line.starts(with: "export ".utf8) ? line.dropFirst("export ".utf8.count) : line
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }

    private static func text(_ file: fl_resource_t) -> String {
        String(decoding: bytes(file), as: UTF8.self)
    }

    private static func bytes(_ file: fl_resource_t) -> [UInt8] {
        let start = unsafe fl_resource_bytes(file)
        return unsafe Array(UnsafeBufferPointer(start: start, count: fl_resource_size(file)))
    }
}
