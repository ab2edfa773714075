package import ProfileModel

/// The costs of one recorded launch, by thing and by stack, in the form that a store of many
/// machines' launches uses.
package struct RecordedCosts: Sendable {
    package struct Cost: Hashable, Sendable {
        package var thing: UInt64
        package var cost: TopCost
        package var isKnown: Bool
        package var isUsed: Bool
        package var detail: String?
    }

    /// The costs of the launch, or of all phases of one name.
    package struct Part: Sendable {
        /// Empty: the launch.
        package var phase: String
        package var wall: TimeSpan
        package var costs: [Cost]
    }

    /// The times of stacks in all phases of one name.
    package struct Stacks: Sendable {
        package var phase: String
        package var isOfMainThread: Bool
        package var times: [(stack: UInt64, cost: Analysis.Cost)]
    }

    /// The costly things, by a number that is the same in all launches of a program.
    package private(set) var things: [(number: UInt64, thing: CostlyThing)] = []
    package private(set) var parts: [Part] = []
    package private(set) var stacks: [Stacks] = []
    /// For each stack its functions, by their things' numbers, callers first.
    package private(set) var frames: [(stack: UInt64, things: [UInt64])] = []

    private var known: Set<UInt64> = []

    package init(of profile: Profile) {
        var names = TopNames()
        add("", LaunchCosts(of: profile, &names), names)
        for (name, phases) in profile.phasesByName {
            add(name, LaunchCosts(of: profile, phases: phases, &names), names)
        }
        addStacks(profile, &names)
    }

    private mutating func add(_ phase: String, _ costs: LaunchCosts, _ names: TopNames) {
        var part = Part(phase: phase, wall: costs.wall, costs: [])
        for (key, cost) in costs.costs {
            part.costs.append(
                Cost(
                    thing: number(of: key, names), cost: cost,
                    isKnown: !costs.unknown.contains(key), isUsed: !costs.unused.contains(key),
                    detail: costs.details[key] ?? nil))
        }
        // A dictionary's order differs each time.
        part.costs.sort { $0.thing < $1.thing }
        parts.append(part)
    }

    private mutating func number(of key: TopKey, _ names: TopNames) -> UInt64 {
        let name = names[key.name]
        let number = key.number(name.identity)
        if known.insert(number).inserted {
            let function = name.function
            var thing = CostlyThing(
                kind: key.kind, name: function.name, module: function.module,
                isOwn: function.isOwn)
            (thing.reason, thing.thread) = (key.reason, key.thread)
            (thing.file, thing.line) = (name.file, name.line)
            things.append((number, thing))
        }
        return number
    }

    // MARK: Stacks

    private mutating func addStacks(_ profile: Profile, _ names: inout TopNames) {
        let program = profile.programModule
        let functions = profile.frames.functions.map { names.index(of: $0, program: program) }
        let paths = profile.paths.paths
        var called: [UInt64] = []
        var numbers: [UInt64] = []
        for path in paths {
            let name = functions[Int(path.function.rawValue)]
            let function = number(of: TopKey(.function, name), names)
            let caller = path.parent == PathTable.none ? 0 : numbers[Int(path.parent)]
            called.append(function)
            numbers.append([caller, function].fingerprint)
        }
        var isSeen = [Bool](repeating: false, count: paths.count)
        for (name, phases) in profile.phasesByName {
            let main = Self.own(of: profile, Selection(phases: phases, isOfMainThread: true))
            let whole = Self.own(of: profile, Selection(phases: phases))
            for (isMain, times) in [(true, main), (false, zip(whole, main).map { $0 - $1 })] {
                var costs: [UInt64: Analysis.Cost] = [:]
                for (path, cost) in times.enumerated() where cost != .zero {
                    // Two paths are one stack if their functions have the same names.
                    costs[numbers[path], default: .zero] =
                        costs[numbers[path], default: .zero] + cost
                    isSeen[path] = true
                }
                guard !costs.isEmpty else { continue }
                stacks.append(
                    Stacks(
                        phase: name, isOfMainThread: isMain,
                        times: costs.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
            }
        }
        var listed: Set<UInt64> = []
        for path in paths.indices where isSeen[path] && listed.insert(numbers[path]).inserted {
            var chain: [UInt64] = []
            var next = Int32(truncatingIfNeeded: path)
            while next != PathTable.none {
                chain.append(called[Int(next)])
                next = paths[Int(next)].parent
            }
            frames.append((numbers[path], chain.reversed()))
        }
    }

    private static func own(of profile: Profile, _ selection: Selection) -> [Analysis.Cost] {
        PathTotals(of: profile, in: selection, weight: .wall).own.map { Analysis.Cost($0) }
    }
}

extension Profile {
    /// The positions of its phases by their names, in the order of time.
    fileprivate var phasesByName: [(name: String, phases: Set<Int>)] {
        var result: [(name: String, phases: Set<Int>)] = []
        var places: [String: Int] = [:]
        for (index, phase) in phases.enumerated() {
            // A store also has launches that were recorded without stacks.
            if let place = places[phase.wholeName] {
                result[place].phases.insert(index)
            } else {
                places[phase.wholeName] = result.count
                result.append((phase.wholeName, [index]))
            }
        }
        return result
    }
}

extension TopKey {
    fileprivate func number(_ identity: FunctionIdentity) -> UInt64 {
        [
            kind.rawValue, identity.name, identity.module, reason?.rawValue ?? "",
            thread.map { "t" + $0 } ?? "",
        ].fingerprint
    }
}

extension [UInt64] {
    /// The number of a stack.
    fileprivate var fingerprint: UInt64 {
        flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) } }
            .fingerprint
    }
}
