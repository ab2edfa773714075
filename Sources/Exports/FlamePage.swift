package import Analysis
package import ProfileModel

/// Boxes below each other as a complete SVG file, as wide as their times, with the roots at the
/// top, where a browser opens it. Every box shows its figures under the mouse pointer; a click
/// zooms if scripts are allowed.
package struct FlamePage {
    package struct Box {
        package var function: Function
        /// From the top, 0.
        package var depth: Int
        package var start: TimeSpan
        package var width: TimeSpan
        /// Shown after the function's name and module; without brackets.
        package var figures: String
        /// A CSS colour.
        package var fill: String

        package init(
            function: Function, depth: Int, start: TimeSpan, width: TimeSpan, figures: String,
            fill: String
        ) {
            (self.function, self.depth, self.start) = (function, depth, start)
            (self.width, self.figures, self.fill) = (width, figures, fill)
        }
    }

    package var title: String
    package var subtitle: String
    /// The time for the whole width.
    package var total: TimeSpan
    package var boxes: [Box]

    package init(title: String, subtitle: String, total: TimeSpan, boxes: [Box]) {
        (self.title, self.subtitle, self.total, self.boxes) = (title, subtitle, total, boxes)
    }

    private static let width = 1200
    private static let margin = 10
    private static let row = 18
    private static let head = 44

    /// False if a box is too narrow to be seen: a third of a pixel out of 1,180.
    package static func isVisible(_ width: TimeSpan, of total: TimeSpan) -> Bool {
        width.nanoseconds > total.nanoseconds / 3_540
    }

    package func render() -> String {
        let depth = (boxes.map(\.depth).max() ?? 0) + 1
        let height = Self.head + depth * Self.row + Self.margin
        let title = XML.text(title)
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
            .frame .script { stroke: none; fill: #1b7a43; }
            text { fill: #111; pointer-events: none; }
            </style>
            <text x="\(Self.margin)" y="20" font-size="16">\(title)</text>
            <text x="\(Self.margin)" y="36" id="told">\(XML.text(subtitle))</text>
            <g id="frames">

            """
        for box in boxes { text += frame(box) }
        return text + "</g>\n<script><![CDATA[\n\(Self.script)]]></script>\n</svg>\n"
    }

    private func frame(_ box: Box) -> String {
        let x = Double(Self.margin) + pixels(box.start)
        let width = pixels(box.width)
        let y = Self.head + box.depth * Self.row
        let name = XML.text(box.function.name)
        let label = XML.text(Self.label(box.function.name, width: width))
        return """
            <svg class="frame" x="\(XML.number(x))" y="\(y)" width="\(XML.number(width))" \
            height="\(Self.row - 1)"><title>\(name) (\(XML.text(place(of: box.function)))): \
            \(XML.text(box.figures))</title>\
            <rect width="100%" height="100%" fill="\(box.fill)"/>\(mark(of: box.function))\
            <text x="3" y="13">\(label)</text></svg>

            """
    }

    private func place(of function: Function) -> String {
        guard let language = function.language, function.isScripted else { return function.module }
        return "\(function.module), \(language.name)"
    }

    /// A bar at the bottom, for readers who cannot distinguish the colours.
    private func mark(of function: Function) -> String {
        guard function.isScripted else { return "" }
        return "<rect class=\"script\" y=\"\(Self.row - 3)\" width=\"100%\" height=\"2\"/>"
    }

    /// Limited to the picture, even for a damaged recording.
    private func pixels(_ time: TimeSpan) -> Double {
        let share = Double(time.nanoseconds) / Double(max(1, total.nanoseconds))
        return Double(Self.width - 2 * Self.margin) * min(max(share, 0), 1)
    }

    /// As much of the name as fits, or nothing rather than two or three letters. The script applies
    /// the same rule to the written width, in hundredths.
    private static func label(_ name: String, width: Double) -> String {
        let letters = Int(((width * 100).rounded() / 100 - 6) / letter)
        return letters < fewestLetters ? "" : name.escapedForDisplay.shortened(to: letters)
    }

    /// In pixels, on average.
    private static let letter = 6.4
    private static let fewestLetters = 4

    /// Zooming: a click makes a frame as wide as the picture, a click on the title goes back. The
    /// line below the title describes the frame under the mouse pointer.
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
            const letters = Math.floor((Math.round(width * 100) / 100 - 6) / \(letter));
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
