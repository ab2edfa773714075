import Analysis

/// The category by which the Firefox Profiler colours a frame: the thread's state if it waits,
/// otherwise the kind of code. For a language's functions, the subcategory marks the developer's
/// own code.
struct FirefoxCategory: Hashable {
    /// In the order of the list in the file.
    enum Kind: Int, CaseIterable {
        /// The viewer needs a grey category, for frames without one.
        case other
        case own, system, blocked, waiting, launch, python, javaScript, kernel

        private var names: (name: String, colour: String) {
            switch self {
            case .other: ("Other", "grey")
            case .own: ("Own code", "blue")
            case .system: ("System libraries", "lightblue")
            case .blocked: ("Blocked", "transparent")
            case .waiting: ("Waiting for a core", "orange")
            case .launch: ("Launch", "purple")
            case .python: ("Python", "green")
            case .javaScript: ("JavaScript", "yellow")
            case .kernel: ("Kernel", "brown")
            }
        }

        /// The viewer needs `Other` as the first.
        private var subcategories: [String] {
            switch self {
            case .python, .javaScript: ["Other", "Own code", "Libraries"]
            default: ["Other"]
            }
        }

        func write(_ writer: inout JSONWriter) {
            writer.object { writer in
                writer.field("name", names.name)
                writer.field("color", names.colour)
                writer.key("subcategories")
                writer.array(subcategories) { $0.value($1) }
            }
        }
    }

    let kind: Kind
    /// Its position in the kind's list.
    let subcategory: Int

    init(_ kind: Kind) {
        self.kind = kind
        subcategory = 0
    }

    init(of function: Function) {
        switch function.language {
        case .python: kind = .python
        case .javaScript: kind = .javaScript
        case .kernel: kind = .kernel
        case .native, nil: kind = function.isOwn ? .own : .system
        }
        subcategory = function.isScripted ? (function.isOwn ? 1 : 2) : 0
    }
}
