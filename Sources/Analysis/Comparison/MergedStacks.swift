import ProfileModel

/// The stacks of all launches as one tree, merged by function.
struct MergedStacks: Sendable {
    /// One frame for each function.
    private(set) var table = FrameTable()
    private(set) var paths = PathTable()
    /// For each launch, the positions in these tables of its functions and its paths.
    private(set) var functions = Compared<[[FunctionID]]>(before: [], after: [])
    private(set) var places = Compared<[[Int32]]>(before: [], after: [])
    /// The path of time that was not recorded.
    private(set) var unrecorded = PathTable.none
    /// The path of time for which threads waited for a core.
    private(set) var withoutCore = PathTable.none
    /// For each path, whether none of its callers is the same function.
    private(set) var isOutermost: [Bool] = []

    private var known: [FunctionIdentity: FrameID] = [:]

    init(_ launches: Compared<[Profile]>) {
        // The later launches come first: functions are shown with the program's current name.
        for side in [Side.after, .before] {
            for profile in launches[side] { add(profile, side) }
        }
        unrecorded = append(table.internFrame(of: .unrecorded), to: PathTable.none)
        withoutCore = append(table.internFrame(of: .withoutCore), to: PathTable.none)
        paths.seal()
        known = [:]
        isOutermost = paths.outermostOccurrences(count: table.functions.count) {
            Int($0.function.rawValue)
        }
    }

    private mutating func add(_ profile: Profile, _ side: Side) {
        let program = profile.programModule
        let frames = profile.frames.functions.map { frame(of: $0, program) }
        functions[side].append(frames.map { table[$0].function })
        var places: [Int32] = []
        places.reserveCapacity(profile.paths.paths.count)
        for path in profile.paths.paths {
            // Callers precede callees.
            let parent =
                path.parent == PathTable.none ? PathTable.none : places[Int(path.parent)]
            places.append(append(frames[Int(path.function.rawValue)], to: parent))
        }
        self.places[side].append(places)
    }

    private mutating func append(_ frame: FrameID, to parent: Int32) -> Int32 {
        let line = paths.intern(parent: parent, frame: frame, function: table[frame].function)
        return paths.path(ofLine: line)
    }

    private mutating func frame(of function: Function, _ program: ModuleIndex?) -> FrameID {
        let identity = FunctionIdentity(function, program: program)
        if let known = known[identity] { return known }
        var shown = function
        if function.isUnnamed { shown.name = FunctionIdentity.unnamed }
        let frame = table.internFrame(of: shown)
        known[identity] = frame
        return frame
    }

    /// The function of these tables that stands for a launch's function.
    func function(
        of seen: SeenFrame, in launches: Compared<[Profile]>, _ side: Side
    ) -> FunctionID {
        functions[side][seen.launch][Int(launches.frame(seen, side).function.rawValue)]
    }
}

extension Function {
    /// Stands for the part of a phase in which the main thread was not recorded.
    package static let unrecorded = Function(
        name: "[not recorded]", module: unknownModule, moduleIndex: nil, isOwn: false)

    /// Stands for time in which a thread was ready to run and had no core. That is no fault of the
    /// function that ran.
    package static let withoutCore = Function(
        name: "[no core]", module: unknownModule, moduleIndex: nil, isOwn: false)
}
