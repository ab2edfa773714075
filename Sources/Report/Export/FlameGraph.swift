import Analysis
import ProfileModel

/// A flame graph as an SVG file of its own: callers below callees, as wide as their time. Every
/// frame tells its figures when pointed at; a click zooms where scripts are allowed.
struct FlameGraph {
    private let profile: Profile
    private let options: ExportOptions
    private let nodes: [Node]
    private let total: TimeSpan
    private let depth: Int

    init(_ profile: Profile, _ options: ExportOptions) {
        self.profile = profile
        self.options = options
        var layout = FlameLayout(profile)
        let stacks = profile.weighedStacks(
            options.selection, weight: options.weight, byPhase: false, byThread: false)
        for stack in stacks { layout.add(stack) }
        nodes = layout.placed()
        total = layout.total
        depth = (nodes.map(\.depth).max() ?? 0) + 1
    }

    struct Node {
        var function: FunctionID
        var depth: Int
        var start: TimeSpan
        var weight: TimeSpan
    }

    private static let width = 1200
    private static let margin = 10
    private static let row = 18
    private static let head = 44

    func render() -> String {
        let height = Self.head + depth * Self.row + Self.margin
        let title = XML.text("\(profile.program.name): \(options.weight.rawValue) time")
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(height)" \
            viewBox="0 0 \(Self.width) \(height)" font-family="sans-serif" font-size="12">
            <title>\(title)</title>
            <style>
            svg { background: #fff; }
            .frame { overflow: hidden; }
            .frame { cursor: pointer; }
            .frame rect { stroke: #fff; stroke-width: 0.5; }
            .frame:hover rect { stroke: #000; }
            text { fill: #111; pointer-events: none; }
            </style>
            <text x="\(Self.margin)" y="20" font-size="16">\(title)</text>
            <text x="\(Self.margin)" y="36" id="told">\(XML.text(subtitle))</text>
            <g id="frames">

            """
        for node in nodes { text += frame(node) }
        return text + "</g>\n<script><![CDATA[\n\(Self.script)]]></script>\n</svg>\n"
    }

    private var subtitle: String {
        guard total > .zero else { return "no \(options.weight.rawValue) time in this selection" }
        let narrow = nodes.isEmpty ? "" : "; what is narrower than a third of a pixel is left out"
        return Numbers.time(total) + " in all threads together" + narrow
    }

    private func frame(_ node: Node) -> String {
        let function = profile.frames[node.function]
        let span = Double(Self.width - 2 * Self.margin)
        let whole = Double(max(1, total.nanoseconds))
        let x = Double(Self.margin) + span * Double(node.start.nanoseconds) / whole
        let width = span * Double(node.weight.nanoseconds) / whole
        let y = Self.head + (depth - 1 - node.depth) * Self.row
        let share = 100 * Double(node.weight.nanoseconds) / whole
        let place = "\(Numbers.time(node.weight)), \(XML.number(share)) %"
        let name = XML.text(function.name)
        let label = XML.text(Self.label(function.name, width: width))
        return """
            <svg class="frame" x="\(XML.number(x))" y="\(y)" width="\(XML.number(width))" \
            height="\(Self.row - 1)"><title>\(name) (\(XML.text(function.module))): \(place)</title>\
            <rect width="100%" height="100%" fill="\(colour(function))"/>\
            <text x="3" y="13">\(label)</text></svg>

            """
    }

    /// What fits; nothing rather than two or three letters. The script does the same.
    private static func label(_ name: String, width: Double) -> String {
        let letters = Int((width - 6) / letter)
        return letters < fewestLetters ? "" : name.escapedForDisplay.shortened(to: letters)
    }

    /// Pixels, on average.
    private static let letter = 6.4
    private static let fewestLetters = 4

    /// Own code is warm, the system's cool, what is no code at all grey. The hue tells neighbours
    /// apart, and is the same in every graph.
    private func colour(_ function: Function) -> String {
        if function.name.hasPrefix("[") { return "#ccc" }
        let hash = function.name.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) }
        let shade = Int(hash % 12)
        return function.isOwn
            ? "hsl(\(20 + shade * 2),85%,\(62 + shade)%)"
            : "hsl(\(190 + shade * 3),45%,\(72 + shade)%)"
    }

    /// Zooming: a click makes a frame as wide as the picture, one on the title goes back. The line
    /// below the title tells of the frame that is pointed at.
    private static let script = """
        "use strict";
        const frames = [...document.querySelectorAll(".frame")].map(element => {
            const told = element.querySelector("title").textContent;
            return { element, told, label: element.querySelector("text"),
                name: told.slice(0, told.lastIndexOf(" (")),
                x: +element.getAttribute("x"), width: +element.getAttribute("width") };
        });
        const [left, span] = [\(margin), \(width - 2 * margin)];
        const line = document.getElementById("told");
        let resting = line.textContent;
        const whole = resting;
        function shortened(name, width) {
            const letters = Math.floor((width - 6) / \(letter));
            const all = [...name];
            if (letters < \(fewestLetters)) return "";
            if (all.length <= letters) return name;
            const head = Math.floor((letters - 1) * 3 / 5);
            return all.slice(0, head).join("") + "…"
                + all.slice(all.length - (letters - 1 - head)).join("");
        }
        function zoom(chosen) {
            for (const frame of frames) {
                const inside = frame.x < chosen.x + chosen.width && frame.x + frame.width > chosen.x;
                const start = Math.max(frame.x, chosen.x);
                const end = Math.min(frame.x + frame.width, chosen.x + chosen.width);
                const width = (end - start) / chosen.width * span;
                frame.element.style.display = inside && width > 0.1 ? "" : "none";
                frame.element.setAttribute("x", left + (start - chosen.x) / chosen.width * span);
                frame.element.setAttribute("width", Math.max(0, width));
                frame.label.textContent = shortened(frame.name, width);
            }
            resting = chosen.told === undefined ? whole
                : chosen.told + "; a click on the title goes back";
            line.textContent = resting;
        }
        for (const frame of frames) {
            frame.element.addEventListener("click", () => zoom(frame));
            frame.element.addEventListener("mouseenter", () => { line.textContent = frame.told; });
            frame.element.addEventListener("mouseleave", () => { line.textContent = resting; });
        }
        const title = document.querySelector("text");
        title.style.pointerEvents = "auto";
        title.style.cursor = "pointer";
        title.addEventListener("click", () => zoom({x: left, width: span}));

        """
}

/// Merges stacks by function, and gives each frame its place: children in the order of their names,
/// so that two graphs can be compared.
private struct FlameLayout {
    private struct Entry {
        var function: FunctionID
        var depth: Int
        var weight: TimeSpan
        var children: [FunctionID: Int] = [:]
    }

    private let frames: FrameTable
    private var entries: [Entry] = []
    private var roots: [FunctionID: Int] = [:]
    private(set) var total = TimeSpan.zero

    init(_ profile: Profile) { frames = profile.frames }

    mutating func add(_ stack: WeighedStack) {
        total = total + stack.weight
        var parent: Int?
        for (depth, frame) in stack.frames.enumerated() {
            let function = frames[frame].function
            let known = parent.map { entries[$0].children[function] } ?? roots[function]
            let index = known ?? entries.count
            if known == nil {
                entries.append(Entry(function: function, depth: depth, weight: .zero))
                if let parent {
                    entries[parent].children[function] = index
                } else {
                    roots[function] = index
                }
            }
            entries[index].weight = entries[index].weight + stack.weight
            parent = index
        }
    }

    /// Those that can be seen.
    func placed() -> [FlameGraph.Node] {
        var result: [FlameGraph.Node] = []
        var pending: [(index: Int, start: TimeSpan)] = []
        func push(_ children: [FunctionID: Int], from start: TimeSpan) {
            var start = start
            for child in children.values.sorted(by: precedes) {
                pending.append((child, start))
                start = start + entries[child].weight
            }
        }
        push(roots, from: .zero)
        while let (index, start) = pending.popLast() {
            let entry = entries[index]
            // A third of a pixel of 1,180.
            guard entry.weight.nanoseconds > total.nanoseconds / 3_540 else { continue }
            result.append(
                FlameGraph.Node(
                    function: entry.function, depth: entry.depth, start: start,
                    weight: entry.weight))
            push(entry.children, from: start)
        }
        return result.sorted { ($0.depth, $0.start) < ($1.depth, $1.start) }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (frames[entries[left].function], frames[entries[right].function])
        if first.name != second.name { return first.name < second.name }
        return (first.module, entries[left].function.rawValue)
            < (second.module, entries[right].function.rawValue)
    }
}

enum XML {
    /// Text between tags or in an attribute's quotes; what XML cannot hold at all is spelled out.
    static func text(_ text: String) -> String {
        var result = ""
        for scalar in text.escapedForDisplay.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// To a hundredth.
    static func number(_ value: Double) -> String {
        let hundredths = Int64((value * 100).rounded())
        let rest = abs(hundredths % 100)
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
