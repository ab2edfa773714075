import Architecture
import Glibc
import ProfileModel
import System

/// The marks of one process: what must still be looked at, what was changed, and the problems.
final class MarkPlacement {
    /// A place whose first bytes are a jump.
    struct Placed {
        var start: UInt64
        /// The bytes that were there before.
        var code: [UInt8]
        var jump: [UInt8]
    }

    /// A probe's semaphore that we have counted up.
    struct Semaphore: Hashable {
        var address: UInt64
        /// The bias of the image that it belongs to.
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
    /// True if code of the running image was ever changed.
    private(set) var isPlaced = false
    private var found: Set<Int> = []
    private var wasLooked = false
    private var refusals = 0
    private let tell: (@Sendable (MarkProblem) -> Void)?
    var patience = MarkPatience()
    /// True if no more marks are placed.
    var isOver = false
    /// True if the files of the next image were read already.
    var isPrepared = false

    /// Problems reported at most: a mark may be refused at a thousand places.
    private static let mostProblems = 32

    /// - Parameter tell: called as soon as something cannot be marked.
    init(_ planner: any MarkPlanner, tell: (@Sendable (MarkProblem) -> Void)?) {
        self.planner = planner
        self.tell = tell
        records = MarkRecord.all(of: planner.requests)
    }

    private var requests: [MarkRequest] { planner.requests }

    /// The process no longer runs the program.
    func leaveImage() {
        pending = []
        unrelocated = nil
        spaces = []
        placed = []
        semaphores = []
        isPlaced = false
        patience = MarkPatience()
    }

    /// Reads a program's files before the program is there. Also rehearses on ourselves what will
    /// be done while the program is stopped: the first time takes longer.
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

    /// Writes a change's trampoline within reach of its code.
    ///
    /// - Returns: the jump to the trampoline; nil if there is none (the reason is noted).
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

    /// The problems that are known only at the end.
    var problems: [MarkProblem] {
        guard wasLooked, !isOver else {
            return requests.map { MarkProblem(request: $0, cause: .unavailable) }
        }
        let missing = requests.indices.filter { !found.contains($0) }
        return missing.map { MarkProblem(request: requests[$0], cause: .notFound) }
    }
}
