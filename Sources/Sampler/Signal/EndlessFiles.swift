import ProcessIO
import ProfileModel

/// Whether a process has files open from which a read may take unlimited time in the kernel:
/// `/dev/zero` and its like. Where no events show what a thread does, its threads are left alone.
struct EndlessFiles {
    private let process: any ProcessAccess
    private var budget: LookBudget
    private var isOpen = false
    private var lastLook: MonotonicTime?

    init(of process: any ProcessAccess) {
        self.process = process
        budget = LookBudget(at: process.now, part: 400)
    }

    /// As of this tick, or of one a moment ago.
    mutating func areOpen(at tick: MonotonicTime) -> Bool {
        guard tick != lastLook, budget.allows(at: tick) else { return isOpen }
        lastLook = tick
        isOpen = budget.pay { [process] in process.hasEndlessFiles }
        return isOpen
    }
}
