import Marks
import ProfileModel
import Symbolicate

/// The marks of one process: what is to be looked at, what was changed, and what came of it.
final class MarkPlacement {
    /// A run whose first bytes are a jump.
    struct Placed {
        var start: UInt64
        /// What was there.
        var code: [UInt8]
        var jump: [UInt8]
    }

    /// A probe's, that was counted up.
    struct Semaphore: Hashable {
        var address: UInt64
        /// Of the image whose it is.
        var bias: UInt64
        var path: String
    }

    let requests: [MarkRequest]
    let records: [MarkRecord]
    /// Programs and libraries that were not looked at yet.
    var pending: [LinkedObject] = []
    var spaces: [TrampolineSpace] = []
    var placed: [Placed] = []
    var semaphores: [Semaphore] = []
    /// Whether code of the running image was ever changed.
    private(set) var isPlaced = false
    private var found: Set<Int> = []
    private var wasLooked = false
    private var refusals = 0
    private let tell: (@Sendable (MarkProblem) -> Void)?
    /// Nothing is placed any more.
    var isOver = false

    /// A mark that is refused here and there need not be told a thousand times.
    private static let mostProblems = 32

    /// - Parameter tell: called at once when something cannot be marked.
    init(_ requests: [MarkRequest], tell: (@Sendable (MarkProblem) -> Void)?) {
        self.requests = requests
        self.tell = tell
        records = MarkRecord.all(of: requests)
    }

    /// The program is gone from the process.
    func leaveImage() {
        pending = []
        spaces = []
        placed = []
        semaphores = []
        isPlaced = false
    }

    func note(_ plan: ImagePlan) {
        wasLooked = true
        found.formUnion(plan.found)
        for refusal in plan.refusals {
            refuse(refusal.request, refusal.place, refusal.reason)
        }
    }

    private func refuse(_ request: Int, _ place: String, _ reason: MarkRefusal) {
        guard requests.indices.contains(request), refusals < Self.mostProblems else { return }
        refusals += 1
        tell?(MarkProblem(request: requests[request], cause: .refused(place: place, reason)))
    }

    /// Writes a run's trampoline where it is in reach.
    ///
    /// - Returns: the jump that leads there; nil, and noted, when there is none.
    func makeTrampoline(_ run: MarkedRun) -> [UInt8]? {
        var reason = MarkRefusal.tooFar
        for index in spaces.indices {
            switch spaces[index].place(run) {
            case .success(let jump): return jump
            case .failure(let refusal): if refusal != .tooFar { reason = refusal }
            }
        }
        refuse(run, reason)
        return nil
    }

    func refuse(_ run: MarkedRun, _ reason: MarkRefusal) {
        for request in Set(run.hooks.map { Int($0.record) / 3 }) {
            refuse(
                request, requests.indices.contains(request) ? requests[request].name : "", reason)
        }
    }

    func add(_ changed: Placed) {
        isPlaced = true
        placed.append(changed)
    }

    /// What only the end can tell.
    var problems: [MarkProblem] {
        guard wasLooked, !isOver else {
            return requests.map { MarkProblem(request: $0, cause: .unavailable) }
        }
        let missing = requests.indices.filter { !found.contains($0) }
        return missing.map { MarkProblem(request: requests[$0], cause: .notFound) }
    }
}
