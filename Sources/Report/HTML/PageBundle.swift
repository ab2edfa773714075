/// The page's own files, as they stand in the `Page` folder: one script and one style sheet.
enum PageBundle {
    /// The modules in the order in which they need each other.
    private static let modules = [
        PackageResources.format_js, PackageResources.launch_js, PackageResources.totals_js,
        PackageResources.forest_js, PackageResources.dom_js, PackageResources.state_js,
        PackageResources.source_js, PackageResources.heaviest_js, PackageResources.tree_js,
        PackageResources.flame_js, PackageResources.table_js, PackageResources.facts_js,
        PackageResources.lanes_js, PackageResources.timeline_js, PackageResources.main_js,
    ]

    static var style: [UInt8] { PackageResources.page_css }
    static var skeleton: String { String(decoding: PackageResources.page_html, as: UTF8.self) }

    /// All modules as one: a page that is opened from a disk cannot import others. Each import is
    /// a line of its own, and names are unique among all of them.
    static var script: [UInt8] {
        var result: [UInt8] = []
        for line in modules.joined().split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "import ".utf8) { continue }
            result +=
                line.starts(with: "export ".utf8) ? line.dropFirst("export ".utf8.count) : line
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }
}
