/// The pages' own files, from the `Page` folder.
enum PageBundle {
    /// The files of a recording's page.
    static var launch: PageFiles {
        PageFiles(
            skeleton: text(PackageResources.page_html), script: script(launchModules),
            style: PackageResources.page_css)
    }

    /// The files of a measurement's page: a recording's style sheet with additions.
    static var measurement: PageFiles {
        PageFiles(
            skeleton: text(PackageResources.measurement_html), script: script(measurementModules),
            style: PackageResources.page_css + PackageResources.measurement_css)
    }

    /// The files of a comparison's page, with the skeleton of a recording's page.
    static var comparison: PageFiles {
        PageFiles(
            skeleton: text(PackageResources.page_html), script: script(comparisonModules),
            style: PackageResources.page_css + PackageResources.comparison_css)
    }

    /// The modules of pages with a timeline, in the order of their dependencies.
    private static let timelineModules = [
        PackageResources.format_js, PackageResources.launch_js, PackageResources.dom_js,
        PackageResources.values_js, PackageResources.start_js, PackageResources.legend_js,
        PackageResources.table_js, PackageResources.boxes_js, PackageResources.lanes_js,
        PackageResources.timeline_js,
    ]

    private static let launchModules =
        timelineModules + [
            PackageResources.totals_js, PackageResources.forest_js, PackageResources.state_js,
            PackageResources.source_js, PackageResources.heaviest_js, PackageResources.tree_js,
            PackageResources.flame_js, PackageResources.facts_js, PackageResources.main_js,
        ]

    private static let measurementModules = [
        PackageResources.dom_js, PackageResources.measurement_js,
    ]

    private static let comparisonModules =
        timelineModules + [
            PackageResources.compared_js, PackageResources.sides_js,
            PackageResources.differential_js, PackageResources.changes_js,
            PackageResources.comparison_js,
        ]

    /// All modules as one, since a page opened from a disk cannot import others. Each import must
    /// be on a line of its own, and names must be unique among all modules.
    private static func script(_ modules: [[UInt8]]) -> [UInt8] {
        var result: [UInt8] = []
        for line in modules.joined().split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "import ".utf8) { continue }
            result +=
                line.starts(with: "export ".utf8) ? line.dropFirst("export ".utf8.count) : line
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
