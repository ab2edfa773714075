package import ProfileModel

/// A library of both sides, matched by the name of its file.
package struct ComparedLibrary: Hashable, Sendable {
    package var name: String
    /// In how many launches of each side it was loaded. If it was loaded several times in a launch,
    /// each time counts.
    package var loads: Compared<Int>
    /// The time of its `dlopen`; of its initialisers if it was loaded at start-up; zero where
    /// neither is known. With several launches, the mean.
    package var wall: Compared<TimeSpan>
    /// The same in each launch.
    package var walls: LaunchWalls
}

extension ComparedLibrary {
    private struct Identity: Hashable {
        var name: String
        /// Several libraries of one name are matched in the order of their loading.
        var place: Int
    }

    /// Libraries that only one side loaded first; then by the change of their cost, the largest
    /// first.
    static func all(_ launches: Compared<[Profile]>) -> [ComparedLibrary] {
        var found: [(name: String, loads: Compared<Int>, sums: LaunchSums)] = []
        var known: [Identity: Int] = [:]
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                var places: [String: Int] = [:]
                for library in profile.libraries {
                    let name = library.fileName
                    let identity = Identity(name: name, place: places[name, default: 0])
                    places[name, default: 0] += 1
                    let position = known[identity] ?? found.count
                    if position == found.count {
                        known[identity] = position
                        found.append((name, .zero, LaunchSums(launches)))
                    }
                    found[position].loads[side] += 1
                    found[position].sums.add(library.cost, to: launch, side)
                }
            }
        }
        let sorted = found.map {
            ComparedLibrary(
                name: $0.name, loads: $0.loads, wall: $0.sums.means, walls: $0.sums.walls)
        }.sortedByChange(\.wall)
        return sorted.filter { !$0.isCommon } + sorted.filter(\.isCommon)
    }

    /// Whether both sides loaded it.
    package var isCommon: Bool { loads.before > 0 && loads.after > 0 }
}

extension LibraryFigures {
    fileprivate var fileName: String { String(Module(path: path).name) }

    fileprivate var cost: TimeSpan { wall ?? initializers ?? .zero }
}
