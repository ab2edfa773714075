import ProfileModel

/// The costs of one launch, by function, wait, initialiser, library and process.
struct LaunchCosts {
    private(set) var costs: [TopKey: TopCost] = [:]
    /// Libraries whose cost is not known.
    private(set) var unknown: Set<TopKey> = []
    /// Libraries whose code no stack shows in use.
    private(set) var unused: Set<TopKey> = []
    /// The objects of waits, without the parts that differ each time; nil: several objects.
    private(set) var details: [TopKey: String?] = [:]
    /// The wall of the launch, or of the wanted phases: the sum of functions' own times.
    private(set) var wall: TimeSpan

    /// - Parameter phases: in the profile's list; nil: all of the launch. Initialisers and libraries
    ///   belong to the launch as a whole.
    init(of profile: Profile, phases: Set<Int>? = nil, _ names: inout TopNames) {
        wall =
            phases?.reduce(.zero) { $0 + profile.phases[$1].wall } ?? profile.launch.wall
        let program = profile.programModule
        let functions = profile.frames.functions.map { names.index(of: $0, program: program) }
        addFunctions(profile, phases, functions, &names)
        addWaits(profile, phases, functions)
        guard phases == nil else { return }
        addInitializers(profile, functions, &names)
        addLibraries(profile, &names)
        addProcesses(profile, &names)
    }

    private mutating func add(_ cost: TopCost, to key: TopKey) {
        costs[key, default: .zero] = costs[key, default: .zero] + cost
    }

    /// The main thread's wall time by function, with a line for the time that was not recorded.
    private mutating func addFunctions(
        _ profile: Profile, _ phases: Set<Int>?, _ functions: [Int32], _ names: inout TopNames
    ) {
        let selection = Selection(phases: phases, isOfMainThread: true)
        let totals = PathTotals(of: profile, in: selection, weight: .wall)
        let paths = profile.paths
        let isOutermost = paths.outermostOccurrences(count: names.names.count) {
            Int(functions[Int($0.function.rawValue)])
        }
        var heaviest: [Int32: TimeSpan] = [:]
        var rest = wall
        for (index, path) in paths.paths.enumerated() where totals.total[index] != .zero {
            let name = functions[Int(path.function.rawValue)]
            var cost = TopCost()
            cost.own = Cost(totals.own[index])
            if isOutermost[index] { cost.total = Cost(totals.total[index]) }
            add(cost, to: TopKey(.function, name))
            rest = rest - cost.own.wall
            guard heaviest[name].map({ $0 < cost.own.wall }) ?? true else { continue }
            heaviest[name] = cost.own.wall
            names.place(name, at: profile.frames[totals.hottest[index]])
        }
        guard rest != .zero else { return }
        let unrecorded = names.index(of: .unrecorded, program: nil)
        add(TopCost(Cost(wall: rest)), to: TopKey(.function, unrecorded))
    }

    private mutating func addWaits(
        _ profile: Profile, _ phases: Set<Int>?, _ functions: [Int32]
    ) {
        for wait in profile.waits {
            if let phases, !(wait.phase.map(phases.contains) ?? false) { continue }
            guard let place = profile.place(in: profile.stack(of: wait)) else { continue }
            let isMain = profile.mainThread.isMain(wait.thread, at: max(.zero, wait.start))
            let key = TopKey(
                .wait, functions[Int(profile.frames[place].function.rawValue)],
                reason: wait.reason.kind,
                thread: isMain ? nil : profile.threads[wait.thread].name)
            add(TopCost(Cost(wall: wait.duration, blocked: wait.duration), count: 1), to: key)
            let detail =
                wait.reason.kind == .sleep ? nil : wait.reason.detail?.withoutAddress.withoutTimeout
            details[key] = .some(details[key].map { $0 == detail ? detail : nil } ?? detail)
        }
    }

    private mutating func addInitializers(
        _ profile: Profile, _ functions: [Int32], _ names: inout TopNames
    ) {
        for run in profile.initializers {
            let frame = profile.frames[run.frame]
            let name = functions[Int(frame.function.rawValue)]
            let cost = TopCost(Cost(wall: run.wall, cpu: run.cpu), count: 1)
            add(cost, to: TopKey(.initializer, name))
            if names[name].file == nil { names.place(name, at: frame) }
        }
    }

    private mutating func addLibraries(_ profile: Profile, _ names: inout TopNames) {
        for library in profile.libraries {
            let file = String(Module(path: library.path).name)
            let key = TopKey(.library, names.index(ofLibrary: file, isOwn: library.isOwn))
            let wall = library.wall ?? library.initializers
            add(TopCost(Cost(wall: wall ?? .zero), count: 1), to: key)
            if wall == nil { unknown.insert(key) }
            if library.used == false { unused.insert(key) }
        }
    }

    /// The processes that the first one and its descendants started: the time of each from its fork
    /// to its end.
    private mutating func addProcesses(_ profile: Profile, _ names: inout TopNames) {
        for process in profile.processes where process.child != nil {
            let key = TopKey(.process, names.index(ofProcess: process.name))
            let end = process.end ?? profile.launch.wall
            let cost = Cost(wall: max(.zero, end - process.start), cpu: process.cpu)
            add(TopCost(cost, count: 1), to: key)
        }
    }
}
