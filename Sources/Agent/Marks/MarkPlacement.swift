import Architecture
import Glibc
package import Images
package import ProcessIO
package import ProfileModel
import System

/// The marks of one process: the images still to be examined, the changes made, and the problems.
package final class MarkPlacement {
    /// A place whose first bytes are a jump.
    package struct Placed {
        package var start: UInt64
        /// The bytes that were there before.
        package var code: [UInt8]
        package var jump: [UInt8]

        package init(start: UInt64, code: [UInt8], jump: [UInt8]) {
            self.start = start
            self.code = code
            self.jump = jump
        }
    }

    /// A probe's semaphore that we have counted up.
    package struct Semaphore: Hashable {
        package var address: UInt64
        /// The bias of the image that it belongs to.
        package var bias: UInt64
        package var path: String

        package init(address: UInt64, bias: UInt64, path: String) {
            self.address = address
            self.bias = bias
            self.path = path
        }
    }

    package let planner: any MarkPlanner
    package let records: [MarkRecord]
    /// Programs and libraries that were not examined yet.
    package var pending: [LinkedObject] = []
    /// How to read a program that has not relocated itself yet.
    package var unrelocated: UnrelocatedMemory?
    package var spaces: [TrampolineSpace] = []
    package var placed: [Placed] = []
    package var semaphores: [Semaphore] = []
    /// True if code of the running image was ever changed.
    package private(set) var isPlaced = false
    private var found: Set<Int> = []
    private var wasLooked = false
    private var refusals = 0
    private let tell: (@Sendable (MarkProblem) -> Void)?
    package var patience = MarkPatience()
    /// True if no more marks are placed.
    package var isOver = false
    /// True if the files of the next image were read already.
    package var isPrepared = false

    /// Problems reported at most: a mark may be refused at a thousand places.
    private static let mostProblems = 32

    /// - Parameter tell: called as soon as something cannot be marked.
    package init(_ planner: any MarkPlanner, tell: (@Sendable (MarkProblem) -> Void)?) {
        self.planner = planner
        self.tell = tell
        records = MarkRecord.all(of: planner.requests)
    }

    private var requests: [MarkRequest] { planner.requests }

    /// The process no longer runs the program.
    package func leaveImage() {
        pending = []
        unrelocated = nil
        spaces = []
        placed = []
        semaphores = []
        isPlaced = false
        patience = MarkPatience()
    }

    /// Reads a program's files before the program is there. Also rehearses on ourselves the work
    /// that will be done while the program is stopped: the first time takes longer.
    package static func prepare(_ planner: any MarkPlanner, _ path: String) {
        planner.prepare(path, path: path)
        let own = ImageStart(of: KernelProcess.ourselves)
        let objects = own.linker.map {
            LinkMap.objects(debug: $0.debug, memory: TargetMemory(pid: getpid()))
        }
        _ = objects?.map { $0.file(of: KernelProcess.ourselves) }
        _ = own.program.map { SignpostLocator($0).states() }
    }

    /// Reads the running image's files while its libraries are loaded.
    package func prepare(_ path: String, of process: any ProcessAccess) {
        defer { isPrepared = false }
        guard !isOver, !isPrepared else { return }
        _ = startThread { [planner, file = process.programFile] in planner.prepare(file, path: path)
        }
    }

    package func note(_ plan: MarkPlan) {
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
    package func makeTrampoline(_ change: MarkPlan.Change) -> [UInt8]? {
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

    package func refuse(_ change: MarkPlan.Change, _ reason: MarkRefusal) {
        for request in change.requests {
            refuse(
                request, requests.indices.contains(request) ? requests[request].name : "", reason)
        }
    }

    package func add(_ changed: Placed) {
        isPlaced = true
        placed.append(changed)
    }

    /// The problems that are known only at the end.
    package var problems: [MarkProblem] {
        guard wasLooked, !isOver else {
            return requests.map { MarkProblem(request: $0, cause: .unavailable) }
        }
        let missing = requests.indices.filter { !found.contains($0) }
        return missing.map { MarkProblem(request: requests[$0], cause: .notFound) }
    }
}

/// Plans the changes to a program or library with which its marks are noted. Called from several
/// threads.
package protocol MarkPlanner: Sendable {
    /// The marks that the user asks for.
    var requests: [MarkRequest] { get }

    /// Reads the files of a program and its libraries ahead, so that later plans need not wait for
    /// this.
    ///
    /// - Parameters:
    ///   - file: where the program's file can be read now.
    ///   - path: the path at which the program is found.
    func prepare(_ file: String, path: String)

    /// nil: the image's file cannot be read.
    ///
    /// - Parameter read: reads at most that many bytes of the process's memory.
    func plan(
        for image: MarkedImage,
        read: @Sendable (_ address: UInt64, _ count: Int) -> [UInt8]
    ) -> MarkPlan?
}

/// Limits how often the program may be held so that marks can be placed. A thread that stays in the
/// kernel stops late, and all others stay stopped while we wait for it.
package struct MarkPatience {
    /// How long to wait for a thread's stop.
    package static let forStops = TimeSpan.milliseconds(20)
    /// After a failed attempt, the program runs this many times as long as it was held.
    private static let pause: Int64 = 50
    /// The total time for which the program may be held in vain.
    private static let most = TimeSpan.milliseconds(400)

    private var spent = TimeSpan.zero
    private var next: MonotonicTime?

    package func allows(at now: MonotonicTime) -> Bool { next.map { now >= $0 } ?? true }

    package mutating func failed(from start: MonotonicTime, to end: MonotonicTime) {
        let cost = end - start
        spent = spent + cost
        next = end + TimeSpan(nanoseconds: cost.nanoseconds &* Self.pause)
    }

    /// True if there will be no further attempt.
    package var isOver: Bool { spent >= Self.most }
}

/// Why a mark was not watched, or not at every place.
package struct MarkProblem: Hashable, Sendable, CustomStringConvertible {
    package enum Cause: Hashable, Sendable {
        /// Neither the program nor its libraries have the function or probe.
        case notFound
        case refused(place: String, MarkRefusal)
        /// Our code could not be put into the program.
        case unavailable
    }

    package var request: MarkRequest
    package var cause: Cause

    package var description: String {
        "--mark \(request.name): " + explanation
    }

    private var explanation: String {
        switch cause {
        case .notFound: "no \(what) in the program or the libraries that it loaded"
        case .refused(let place, let reason): "'\(place)' cannot be marked: \(reason)"
        case .unavailable:
            "the program cannot be watched for marks: it has its system calls filtered, cannot be "
                + "recorded by signal, or relocates itself, and how is not known in time"
        }
    }

    private var what: String {
        switch request.place {
        case .function(let name, let library?, _): "function '\(name)' of '\(library)'"
        case .function(let name, nil, _): "function '\(name)'"
        case .probe(let provider, let name): "probe '\(provider):\(name)'"
        }
    }
}
