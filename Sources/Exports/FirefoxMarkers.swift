import Analysis
import ProfileModel

/// A thread's markers for the Firefox Profiler. The main thread also has those of the whole launch.
struct FirefoxMarkers {
    struct Marker {
        var kind: Kind
        var name: String
        var detail: String?
        var start: TimeSpan
        /// nil: a point in time.
        var end: TimeSpan?
    }

    /// The names in the viewer's list of schemas.
    enum Kind: String, CaseIterable {
        case phase = "Phase"
        case ready = "Ready"
        case interval = "Interval"
        case signpost = "Signpost"
        case initializer = "Initialiser"
        case importing = "Import"
        case library = "Library"
        case wait = "Wait"
    }

    static let kinds = Kind.allCases
    private let markers: [Marker]

    /// - Parameter imports: all imports of the profile.
    init(_ profile: Profile, _ selection: Selection, imports: [ImportFigures], thread: Int) {
        let isMain = profile.threads[thread].isMain
        let mine = { (owner: Int?) in owner == thread || (owner == nil && isMain) }
        var all: [Marker] = []
        if isMain { all += Self.launch(profile) }
        for interval in profile.intervals where mine(interval.thread) {
            all.append(
                Marker(
                    kind: .interval, name: interval.name, detail: interval.category,
                    start: interval.start, end: interval.end))
        }
        for signpost in profile.signposts where mine(signpost.thread) {
            all.append(
                Marker(
                    kind: .signpost, name: signpost.name, detail: signpost.category,
                    start: signpost.time))
        }
        for initializer in profile.initializers where initializer.thread == thread {
            let function = profile.frames.function(of: initializer.frame)
            all.append(
                Marker(
                    kind: .initializer, name: function.name, detail: function.module,
                    start: initializer.start, end: initializer.end))
        }
        for run in imports where run.thread == thread {
            all.append(
                Marker(
                    kind: .importing, name: run.title, detail: run.file, start: run.start,
                    end: run.end))
        }
        for wait in profile.waits where wait.thread == thread {
            all.append(
                Marker(
                    kind: .wait, name: wait.reason.kind.rawValue, detail: wait.reason.detail,
                    start: wait.start, end: wait.end))
        }
        markers = all.filter {
            profile.includes(selection, from: $0.start, to: $0.end ?? $0.start, thread: thread)
        }.enumerated().sorted {
            ($0.element.start, $0.offset) < ($1.element.start, $1.offset)
        }.map(\.element)
    }

    private static func launch(_ profile: Profile) -> [Marker] {
        var result = profile.phases.map {
            Marker(kind: .phase, name: $0.name, start: $0.start, end: $0.end)
        }
        if let ready = profile.ready {
            result.append(
                Marker(kind: .ready, name: "Ready", detail: ready.by, start: ready.time))
        }
        for library in profile.libraries {
            result.append(
                Marker(
                    kind: .library, name: library.path, detail: library.requestedBy,
                    start: library.start, end: library.wall.map { library.start + $0 }))
        }
        return result
    }

    func write(_ strings: inout StringTable, _ writer: inout JSONWriter) {
        let names = markers.map { strings($0.name) }
        writer.field("length", markers.count)
        writer.key("name")
        writer.array(names) { $0.value($1) }
        writer.key("startTime")
        writer.array(markers) { $0.milliseconds($1.start) }
        writer.key("endTime")
        writer.array(markers) { writer, marker in
            guard let end = marker.end else { return writer.value(Int?.none) }
            writer.milliseconds(end)
        }
        // 0 is a point in time, 1 an interval.
        writer.key("phase")
        writer.array(markers) { $0.value($1.end == nil ? 0 : 1) }
        writer.key("category")
        writer.array(markers) { writer, marker in
            let kind: FirefoxCategory.Kind = marker.kind == .wait ? .blocked : .launch
            writer.value(kind.rawValue)
        }
        writer.key("data")
        writer.array(markers) { writer, marker in
            writer.object {
                $0.field("type", marker.kind.rawValue)
                $0.field("detail", marker.detail ?? "")
            }
        }
    }

    static func schema(of kind: Kind, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", kind.rawValue)
            writer.field("chartLabel", "{marker.name}")
            writer.field("tableLabel", "{marker.name} {marker.data.detail}")
            writer.field("tooltipLabel", "{marker.name}")
            writer.key("display")
            writer.tuple { writer in
                for place in ["marker-chart", "marker-table", "timeline-overview"] {
                    writer.value(place)
                }
            }
            writer.key("data")
            writer.tuple { writer in
                writer.object {
                    $0.field("key", "detail")
                    $0.field("label", "Detail")
                    $0.field("format", "string")
                    $0.field("searchable", true)
                }
            }
        }
    }
}
