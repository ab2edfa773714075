import Analysis

/// Elements that several parts of the page use.
enum PageParts {
    static func section(_ title: String, _ content: [Markup]) -> Markup {
        Markup("section", [:], [.lines([Markup("h2", [:], text: title)] + content)])
    }

    static func caption(_ text: String) -> Markup {
        Markup("p", ["class": "caption"], text: text)
    }

    /// An arm's name with its colour and shape.
    static func label(_ arm: PageModel.Arm) -> Markup {
        Markup(
            "span", ["class": "arm"],
            [
                Markup("i", ["class": "swatch \(arm.style)", "aria-hidden": "true"]),
                Markup(arm.label),
            ])
    }

    /// A plot next to its title.
    static func row(_ name: [Markup], _ plot: Markup) -> Markup {
        Markup("div", ["class": "row"], [Markup("div", ["class": "what"], name), plot])
    }
}
