/// The JSON report, as documented: decoding fails if a field is missing.
package struct LaunchReport: Decodable {
    package struct Program: Decodable {
        package var name: String
        package var path: String
        package var arguments: [String]
        package var pid: Int32
        package var exitStatus: Int32?
        package var signal: Int32?
    }

    package struct Launch: Decodable {
        package var wallNs: Int64
        package var cpuNs: Int64
        package var frequencyHz: Int
        package var ticks: Int
        package var missedTicks: Int
        package var samples: Int
        package var missedSamples: Int
        package var slices: Int
        package var truncatedStacks: Int
        package var lostSamples: Int
        package var capture: String
        package var mainThread: [MainThread]
        package var notes: [Note]
        /// The scheduler's account: `wakeups`, `switches`; nil: none.
        package var scheduler: String?

        /// Nearly all stacks reach the root. A fiftieth of few slices would be none, but a busy
        /// machine truncates one or two.
        package var stacksAreWhole: Bool { truncatedStacks <= max(3, slices / 50) }

        /// If a function cannot be unwound, this is false, however busy the machine is.
        package var mostStacksAreWhole: Bool { truncatedStacks <= max(3, slices / 2) }

        /// Whether a program replaced another one unnoticed: then its phases are not divided.
        package var hasLateExec: Bool { notes.contains { $0.kind == "late_exec" } }
        /// Whether our code could not come in in time, so stacks are taken by ptrace.
        package var isUnmapped: Bool { notes.contains { $0.kind == "unmapped" } }
        /// Whether phases may be missing, because a recorder without a core missed their borders.
        package var isUndivided: Bool { hasLateExec || isUnmapped }

        /// Whether so many samples or looks are missing that no library is called unused.
        package var isMuchMissed: Bool {
            missedTicks * 5 > ticks + missedTicks || missedSamples * 5 > samples + missedSamples
        }

        /// Whether so little ran, or so little of it was sampled, that no function need be found.
        package var isHardlySeen: Bool { isMuchMissed || cpuNs < 20_000_000 }

        /// CPU time in nanoseconds that is in no thread's slices.
        package var unseenCPU: Int64 { notes.first { $0.kind == "unseen_cpu" }?.value ?? 0 }
    }

    /// Which thread is the main one, and for how long.
    package struct MainThread: Decodable {
        package var tid: Int32
        package var startNs: Int64
        package var wallNs: Int64
    }

    package struct Note: Decodable {
        package var kind: String
        package var value: Int64
    }

    package struct Process: Decodable {
        package struct Phase: Decodable {
            package var name: String
            package var startNs: Int64
            package var wallNs: Int64
            package var cpuNs: Int64
        }

        package var pid: Int32
        package var parentPid: Int32?
        package var parent: Int?
        package var name: String
        package var arguments: [String]
        package var startNs: Int64
        package var endNs: Int64?
        package var exitStatus: Int32?
        package var signal: Int32?
        package var cpuNs: Int64
        package var phases: [Phase]
    }

    package struct PathSegment: Decodable {
        package var tid: Int32
        package var durationNs: Int64
    }

    package struct States: Decodable {
        package var runningNs: Int64
        package var runnableNs: Int64
        package var preemptedNs: Int64
        package var blockedNs: Int64

        package var sum: Int64 { runningNs + runnableNs + preemptedNs + blockedNs }
    }

    package struct Frame: Decodable {
        package var function: String
        package var module: String
        package var file: String?
        package var line: Int?
        package var own: Bool
        package var inlined: Bool
        package var cpuNs: Int64
        package var wallNs: Int64
    }

    package struct WholePhase: Decodable {
        package var name: String
        package var wallNs: Int64
    }

    package struct Phase: Decodable {
        package var name: String
        package var partOf: String?
        package var startPrecisionNs: Int64
        package var group: String
        package var startNs: Int64
        package var wallNs: Int64
        package var heldNs: Int64
        package var cpuNs: Int64
        package var minorFaults: Int64?
        package var majorFaults: Int64?
        package var readBytes: Int64?
        package var mainThread: States
        package var heaviestStack: [Frame]
    }

    package struct Thread: Decodable {
        package var tid: Int32
        package var pid: Int32
        package var name: String
        package var startNs: Int64
        package var endNs: Int64
        package var runningNs: Int64
        package var runnableNs: Int64
        package var preemptedNs: Int64
        package var blockedNs: Int64

        package var sum: Int64 { runningNs + runnableNs + preemptedNs + blockedNs }
        package var wallNs: Int64 { endNs - startNs }
    }

    package struct Function: Decodable {
        package var function: String
        package var module: String
        package var own: Bool
        package var selfCpuNs: Int64
        package var totalCpuNs: Int64
        package var selfWallNs: Int64
        package var totalWallNs: Int64
    }

    package struct Module: Decodable {
        package var path: String
        package var buildId: String?
        package var loadedNs: Int64?
        package var hasDebugInfo: Bool
        package var debugInfoOrigin: String?
    }

    package struct Event: Decodable {
        package struct Reason: Decodable {
            package var kind: String
            package var detail: String?
            package var ownerTid: Int32?
        }

        package struct Place: Decodable {
            package var function: String
        }

        package struct Waker: Decodable {
            package var tid: Int32
            package var name: String?
        }

        package var tid: Int32
        package var startNs: Int64
        package var durationNs: Int64
        package var reason: Reason
        package var stack: [Place]
        package var endedBy: Waker?
    }

    package struct Lane: Decodable {
        /// `[start, length, state]`
        package struct Run: Decodable {
            package var start: Int64
            package var length: Int64
            package var state: String

            package init(from decoder: any Decoder) throws {
                var values = try decoder.unkeyedContainer()
                start = try values.decode(Int64.self)
                length = try values.decode(Int64.self)
                state = try values.decode(String.self)
            }
        }

        package var tid: Int32
        package var runs: [Run]
    }

    package struct Priority: Decodable {
        package var tid: Int32
        package var atNs: Int64
        package var policy: String?
        package var nice: Int?
        package var realTime: Int?
    }

    package struct Finding: Decodable {
        package struct WaitedFor: Decodable {
            package var tid: Int32
            package var known: String
            package var runnableNs: Int64
            package var preemptedNs: Int64
            package var stack: [Event.Place]
        }

        package var kind: String
        package var title: String
        package var savingNs: Int64
        package var tid: Int32
        package var phase: String?
        package var function: String
        package var file: String?
        package var line: Int?
        package var advice: String?
        package var details: [String]
        package var waitedFor: WaitedFor?
    }

    package var schema: Int
    package var program: Program
    package var processes: [Process]
    package var launch: Launch
    package var phases: [Phase]
    package var threads: [Thread]
    package var functions: [Function]
    package var modules: [Module]
    package var events: [Event]
    package var timeline: [Lane]
    package var priorities: [Priority]
    package var wholePhases: [WholePhase]
    package var findings: [Finding]
    package var criticalPath: [PathSegment]

    package var phaseNames: [String] { phases.map(\.name) }

    package var mainThread: Thread? { threads.first { $0.tid == program.pid } }

    package func phase(_ name: String) -> Phase? { phases.first { $0.name == name } }

    /// CPU time of all functions whose name, without arguments, is `name`.
    package func totalCPU(of name: String) -> Int64 {
        functions.filter { $0.function == name || $0.function.hasPrefix(name + "(") }
            .reduce(0) { $0 + $1.totalCpuNs }
    }
}

extension LaunchReport {
    /// The finding of a wait of the fixture `waits`. If wake-ups are recorded, the finding is the
    /// other thread's activity.
    package func finding(ofWait name: String, kind: String, in function: String) -> Finding? {
        let isOther = launch.scheduler == "wakeups" && ["semaphore", "pipe"].contains(name)
        let wanted =
            isOther ? (kind: "sleep", function: "pause_for") : (kind: kind, function: function)
        return findings.first { $0.kind == wanted.kind && $0.function == wanted.function }
    }
}
