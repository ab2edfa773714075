import ProfileModel

/// How a text is highlighted, if the terminal supports it.
enum Style {
    case plain
    case heading
    /// The developer's own code.
    case own
    case dim
    case running
    case runnable
    case preempted
    case blocked
    /// More time than before, and less.
    case slower
    case faster

    /// The text between this style's escape sequences (SGR). The states have the same colours
    /// everywhere: running blue, runnable red, preempted orange, blocked grey.
    func applied(to text: String) -> String {
        let code =
            switch self {
            case .plain: ""
            case .heading, .own: "1"
            case .dim: "2"
            case .running: "34"
            case .runnable: "31"
            case .preempted: "38;5;208"
            case .blocked: "90"
            case .slower: "31"
            case .faster: "34"
            }
        return code.isEmpty || text.isEmpty ? text : "\u{1b}[\(code)m\(text)\u{1b}[0m"
    }
}

extension ThreadState {
    var style: Style {
        switch self {
        case .running: .running
        case .runnable: .runnable
        case .preempted: .preempted
        case .blocked: .blocked
        }
    }
}
