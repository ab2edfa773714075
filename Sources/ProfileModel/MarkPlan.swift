/// A program or library in a process, in which something is to be marked.
package struct MarkedImage: Hashable, Sendable {
    /// Where its file is now.
    package var file: String
    /// Where the program found it.
    package var path: String
    /// Added to an address of the file, it is one of the process.
    package var bias: UInt64

    package init(file: String, path: String, bias: UInt64) {
        self.file = file
        self.path = path
        self.bias = bias
    }
}

/// What must change in a loaded program or library so that its marks are noted.
package struct MarkPlan: Hashable, Sendable {
    /// Whole instructions that a jump takes the place of.
    package struct Change: Hashable, Sendable {
        /// Of the first one.
        package var start: UInt64
        /// Whose hits are noted there, by their places in the list.
        package var requests: Set<Int>
        /// Notes the hits, does what the instructions did, and goes back behind them.
        package var trampoline: MovableCode

        package init(start: UInt64, requests: Set<Int>, trampoline: MovableCode) {
            self.start = start
            self.requests = requests
            self.trampoline = trampoline
        }

        /// What nobody may jump to any more, nor be in when it is written.
        package var inside: Range<UInt64> {
            (start &+ 1)..<(start &+ UInt64(MovableCode.jumpLength))
        }
    }

    /// Why one place that a request stands for cannot be marked.
    package struct Refusal: Hashable, Sendable {
        package var request: Int
        /// The function or probe.
        package var place: String
        package var reason: MarkRefusal

        package init(request: Int, place: String, reason: MarkRefusal) {
            self.request = request
            self.place = place
            self.reason = reason
        }
    }

    package var changes: [Change] = []
    /// Addresses of probes' semaphores.
    package var semaphores: [UInt64] = []
    package var refusals: [Refusal] = []
    /// Which requests found something here, refused or not.
    package var found: Set<Int> = []

    package init() {}
}
