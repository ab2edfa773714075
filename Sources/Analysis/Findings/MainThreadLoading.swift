import ProfileModel

/// The particulars of libraries that were loaded with `dlopen`.
package struct LoadingEvidence: Hashable, Sendable {
    /// In the order of their loading.
    package var paths: [String]
    /// The libraries among them whose code no later stack shows.
    package var unused: [String]
}

/// The main thread loads libraries (`dlopen`) before the program is ready. All libraries that one
/// function asked for count together.
struct MainThreadLoading: FindingRule {
    private struct Group {
        var place: FrameID
        var stack: [FrameID]
        var libraries: [LibraryFigures]
        var windows: TimeWindows
    }

    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        for group in Self.groups(in: search) {
            let windows = search.unclaimed(group.windows)
            guard windows.length >= search.least,
                search.effort(in: windows) >= search.least,
                let range = group.windows.span
            else { continue }
            search.claim(group.windows)
            let unused = group.libraries.filter { $0.used == false }
            found.append(
                Finding(
                    subject: .dlopen(
                        LoadingEvidence(
                            paths: group.libraries.map(\.path), unused: unused.map(\.path))),
                    saving: windows.length, thread: search.mainThread(at: range.lowerBound),
                    range: range,
                    place: group.place,
                    stack: group.stack))
        }
        return found
    }

    /// The outermost functions that only the main thread's stacks have. All threads that a thread
    /// library made share the same outermost functions.
    private static func mainRoots(in profile: Profile) -> Set<FunctionID> {
        let main = profile.mainThread
        guard main.successor != nil else {
            return main.usual.map(profile.rootFunctions) ?? []
        }
        return profile.threads.indices.filter { !main.threads.contains($0) }
            .reduce(main.threads.reduce([]) { $0.union(profile.rootFunctions(of: $1)) }) {
                $0.subtracting(profile.rootFunctions(of: $1))
            }
    }

    /// In the order of time.
    private static func groups(in search: FindingSearch) -> [Group] {
        let frames = search.profile.frames
        let roots = mainRoots(in: search.profile)
        var groups: [Group] = []
        for library in search.profile.libraries {
            // Without the stack of the call, neither the caller nor its thread is known.
            guard !library.isInitial, let wall = library.wall, let root = library.caller.first,
                roots.contains(frames[root].function), let place = search.place(in: library.caller)
            else { continue }
            let window = search.window(from: library.start, to: library.start + wall)
            let function = frames[place].function
            let known = groups.firstIndex { frames[$0.place].function == function }
            if let known {
                groups[known].libraries.append(library)
                groups[known].windows = TimeWindows(groups[known].windows.ranges + [window])
            } else {
                groups.append(
                    Group(
                        place: place, stack: library.caller, libraries: [library],
                        windows: TimeWindows([window])))
            }
        }
        return groups
    }
}

extension Profile {
    /// The outermost functions of a thread's stacks.
    func rootFunctions(of thread: Int) -> Set<FunctionID> {
        var roots = [FunctionID](repeating: FunctionID(0), count: paths.paths.count)
        for (index, path) in paths.paths.enumerated() {
            // Callers precede callees.
            roots[index] = path.parent == PathTable.none ? path.function : roots[Int(path.parent)]
        }
        var found: Set<FunctionID> = []
        for part in parts where Int(part.thread) == thread {
            found.insert(roots[Int(paths.path(ofLine: part.line))])
        }
        return found
    }
}
