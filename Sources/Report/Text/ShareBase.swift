import Analysis
import Exports
import ProfileModel

/// What the shares of a table are shares of, in words.
struct ShareBase {
    /// The time of all threads that are shown, by the table's weight.
    let total: TimeSpan
    private let weight: Weight
    /// How many threads have some of it.
    private let threads: Int

    init(_ profile: Profile, _ selection: Selection, weight: Weight) {
        let times = profile.timesByThread(in: selection).map { weight.of($0) }
        total = times.reduce(.zero, +)
        threads = times.count { $0 > .zero }
        self.weight = weight
    }

    /// "the 322.6 ms of CPU time of one thread"
    var words: String {
        let whose = threads == 1 ? "one thread" : "\(Numbers.grouped(threads)) threads together"
        return "the \(Numbers.time(total)) of \(weight.words) of \(whose)"
    }

    /// "SHARE is of the 4.2 s of CPU time of 8 threads together; times are sums over them"
    var sentence: String {
        "SHARE is of \(words)" + (threads > 1 ? "; times are sums over them" : "")
    }
}

extension Weight {
    /// "CPU time"
    fileprivate var words: String {
        switch self {
        case .cpu: "CPU time"
        case .wall: "wall time"
        case .blocked: "waiting"
        case .runnable: "waiting for a core"
        }
    }
}
