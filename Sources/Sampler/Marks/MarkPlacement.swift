import Glibc
import ProfileModel
import System

/// The marks of one process: what is to be looked at, what was changed, and what came of it.
final class MarkPlacement {
    /// A place whose first bytes are a jump.
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

    let planner: any MarkPlanner
    let records: [MarkRecord]
    /// Programs and libraries that were not looked at yet.
    var pending: [LinkedObject] = []
    /// How to read a program that has not relocated itself yet.
    var unrelocated: UnrelocatedMemory?
    var spaces: [TrampolineSpace] = []
    var placed: [Placed] = []
    var semaphores: [Semaphore] = []
    /// Whether code of the running image was ever changed.
    private(set) var isPlaced = false
    private var found: Set<Int> = []
    private var wasLooked = false
    private var refusals = 0
    private let tell: (@Sendable (MarkProblem) -> Void)?
    var patience = MarkPatience()
    /// Nothing is placed any more.
    var isOver = false
    /// The files of the image that begins next were read already.
    var isPrepared = false

    /// A mark that is refused here and there need not be told a thousand times.
    private static let mostProblems = 32

    /// - Parameter tell: called at once when something cannot be marked.
    init(_ planner: any MarkPlanner, tell: (@Sendable (MarkProblem) -> Void)?) {
        self.planner = planner
        self.tell = tell
        records = MarkRecord.all(of: planner.requests)
    }

    private var requests: [MarkRequest] { planner.requests }

    /// The program is gone from the process.
    func leaveImage() {
        pending = []
        unrelocated = nil
        spaces = []
        placed = []
        semaphores = []
        isPlaced = false
        patience = MarkPatience()
    }

    /// Reads a program's files before it is there, and does with ourselves what will be done while
    /// it stands: the first time takes longer.
    static func prepare(_ planner: any MarkPlanner, _ path: String) {
        planner.prepare(path, path: path)
        let own = ImageStart(pid: getpid())
        let objects = own.linker.map {
            LinkMap.objects(debug: $0.debug, memory: TargetMemory(pid: getpid()))
        }
        _ = objects?.map { $0.file(of: getpid()) }
        _ = own.program.map { SignpostLocator($0).states() }
    }

    /// Reads the running image's files while its libraries are loaded.
    func prepare(_ path: String, of pid: Int32) {
        defer { isPrepared = false }
        guard !isOver, !isPrepared else { return }
        _ = startThread { [planner] in planner.prepare("/proc/\(pid)/exe", path: path) }
    }

    func note(_ plan: MarkPlan) {
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

    /// Writes a change's trampoline where it is in reach.
    ///
    /// - Returns: the jump that leads there; nil, and noted, when there is none.
    func makeTrampoline(_ change: MarkPlan.Change) -> [UInt8]? {
        var reason = MarkRefusal.tooFar
        for index in spaces.indices {
            switch spaces[index].place(change) {
            case .success(let jump): return jump
            case .failure(let refusal): if refusal != .tooFar { reason = refusal }
            }
        }
        refuse(change, reason)
        return nil
    }

    func refuse(_ change: MarkPlan.Change, _ reason: MarkRefusal) {
        for request in change.requests {
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
