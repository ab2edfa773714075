/// The JSON report, as documented: decoding fails if a field is missing.
struct LaunchReport: Decodable {
    struct Program: Decodable {
        var name: String
        var path: String
        var arguments: [String]
        var pid: Int32
        var exitStatus: Int32?
        var signal: Int32?
    }

    struct Launch: Decodable {
        var wallNs: Int64
        var cpuNs: Int64
        var frequencyHz: Int
        var ticks: Int
        var slices: Int
        var truncatedStacks: Int
        var lostSamples: Int
        var capture: String
        var mainThread: [MainThread]
        var notes: [Note]

        /// Nearly all stacks reach the root. A fiftieth of few slices would be none, but a busy
        /// machine truncates one or two.
        var stacksAreWhole: Bool { truncatedStacks <= max(3, slices / 50) }

        /// CPU time in nanoseconds that is in no thread's slices.
        var unseenCPU: Int64 { notes.first { $0.kind == "unseen_cpu" }?.value ?? 0 }
    }

    /// Which thread is the main one, and for how long.
    struct MainThread: Decodable {
        var tid: Int32
        var startNs: Int64
        var wallNs: Int64
    }

    struct Note: Decodable {
        var kind: String
        var value: Int64
    }

    struct Process: Decodable {
        struct Phase: Decodable {
            var name: String
            var startNs: Int64
            var wallNs: Int64
            var cpuNs: Int64
        }

        var pid: Int32
        var parentPid: Int32?
        var parent: Int?
        var name: String
        var arguments: [String]
        var startNs: Int64
        var endNs: Int64?
        var exitStatus: Int32?
        var signal: Int32?
        var cpuNs: Int64
        var phases: [Phase]
    }

    struct PathSegment: Decodable {
        var tid: Int32
        var durationNs: Int64
    }

    struct States: Decodable {
        var runningNs: Int64
        var runnableNs: Int64
        var preemptedNs: Int64
        var blockedNs: Int64

        var sum: Int64 { runningNs + runnableNs + preemptedNs + blockedNs }
    }

    struct Frame: Decodable {
        var function: String
        var module: String
        var file: String?
        var line: Int?
        var own: Bool
        var inlined: Bool
        var cpuNs: Int64
        var wallNs: Int64
    }

    struct WholePhase: Decodable {
        var name: String
        var wallNs: Int64
    }

    struct Phase: Decodable {
        var name: String
        var partOf: String?
        var startPrecisionNs: Int64
        var group: String
        var startNs: Int64
        var wallNs: Int64
        var heldNs: Int64
        var cpuNs: Int64
        var minorFaults: Int64?
        var majorFaults: Int64?
        var readBytes: Int64?
        var mainThread: States
        var heaviestStack: [Frame]
    }

    struct Thread: Decodable {
        var tid: Int32
        var pid: Int32
        var name: String
        var startNs: Int64
        var endNs: Int64
        var runningNs: Int64
        var runnableNs: Int64
        var preemptedNs: Int64
        var blockedNs: Int64

        var sum: Int64 { runningNs + runnableNs + preemptedNs + blockedNs }
        var wallNs: Int64 { endNs - startNs }
    }

    struct Function: Decodable {
        var function: String
        var module: String
        var own: Bool
        var selfCpuNs: Int64
        var totalCpuNs: Int64
        var selfWallNs: Int64
        var totalWallNs: Int64
    }

    struct Module: Decodable {
        var path: String
        var buildId: String?
        var loadedNs: Int64?
        var hasDebugInfo: Bool
        var debugInfoOrigin: String?
    }

    struct Event: Decodable {
        struct Reason: Decodable {
            var kind: String
            var detail: String?
            var ownerTid: Int32?
        }

        struct Place: Decodable {
            var function: String
        }

        struct Waker: Decodable {
            var tid: Int32
            var name: String?
        }

        var tid: Int32
        var startNs: Int64
        var durationNs: Int64
        var reason: Reason
        var stack: [Place]
        var endedBy: Waker?
    }

    struct Lane: Decodable {
        /// `[start, length, state]`
        struct Run: Decodable {
            var start: Int64
            var length: Int64
            var state: String

            init(from decoder: any Decoder) throws {
                var values = try decoder.unkeyedContainer()
                start = try values.decode(Int64.self)
                length = try values.decode(Int64.self)
                state = try values.decode(String.self)
            }
        }

        var tid: Int32
        var runs: [Run]
    }

    struct Priority: Decodable {
        var tid: Int32
        var atNs: Int64
        var policy: String?
        var nice: Int?
        var realTime: Int?
    }

    struct Finding: Decodable {
        struct WaitedFor: Decodable {
            var tid: Int32
            var known: String
            var runnableNs: Int64
            var preemptedNs: Int64
            var stack: [Event.Place]
        }

        var kind: String
        var title: String
        var savingNs: Int64
        var tid: Int32
        var phase: String?
        var function: String
        var file: String?
        var line: Int?
        var advice: String?
        var waitedFor: WaitedFor?
    }

    var schema: Int
    var program: Program
    var processes: [Process]
    var launch: Launch
    var phases: [Phase]
    var threads: [Thread]
    var functions: [Function]
    var modules: [Module]
    var events: [Event]
    var timeline: [Lane]
    var priorities: [Priority]
    var wholePhases: [WholePhase]
    var findings: [Finding]
    var criticalPath: [PathSegment]

    var phaseNames: [String] { phases.map(\.name) }

    var mainThread: Thread? { threads.first { $0.tid == program.pid } }

    func phase(_ name: String) -> Phase? { phases.first { $0.name == name } }

    /// CPU time of all functions whose name, without arguments, is `name`.
    func totalCPU(of name: String) -> Int64 {
        functions.filter { $0.function == name || $0.function.hasPrefix(name + "(") }
            .reduce(0) { $0 + $1.totalCpuNs }
    }
}
