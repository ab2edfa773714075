package import ProfileModel

/// A library of both sides, by the name of its file.
package struct ComparedLibrary: Hashable, Sendable {
    package var name: String
    /// In how many launches of each side it was loaded; of one that was loaded several times in a
    /// launch, each counts.
    package var loads: Compared<Int>
    /// Of its `dlopen`, or where it was there from the start, of its initialisers; nothing where
    /// neither is known. Of several launches, the mean.
    package var wall: Compared<TimeSpan>
}

extension ComparedLibrary {
    private struct Identity: Hashable {
        var name: String
        /// Several of one name are the same in the order of their loading.
        var place: Int
    }

    /// What came or went first, then by the change of its cost, the largest first.
    static func all(_ launches: Compared<[Profile]>) -> [ComparedLibrary] {
        var result: [ComparedLibrary] = []
        var known: [Identity: Int] = [:]
        for side in Side.allCases {
            for profile in launches[side] {
                var places: [String: Int] = [:]
                for library in profile.libraries {
                    let name = library.fileName
                    let identity = Identity(name: name, place: places[name, default: 0])
                    places[name, default: 0] += 1
                    let position = known[identity] ?? result.count
                    if position == result.count {
                        known[identity] = position
                        result.append(ComparedLibrary(name: name, loads: .zero, wall: .zero))
                    }
                    result[position].add(library, side)
                }
            }
            for position in result.indices {
                let sum = result[position].wall[side]
                result[position].wall[side] = sum.mean(of: launches[side].count)
            }
        }
        let sorted = result.sortedByChange(\.wall)
        return sorted.filter { !$0.isCommon } + sorted.filter(\.isCommon)
    }

    private mutating func add(_ library: LibraryFigures, _ side: Side) {
        loads[side] += 1
        wall[side] = wall[side] + (library.wall ?? library.initializers ?? .zero)
    }

    /// Whether both sides loaded it.
    package var isCommon: Bool { loads.before > 0 && loads.after > 0 }
}

extension LibraryFigures {
    fileprivate var fileName: String { String(Module(path: path).name) }
}
