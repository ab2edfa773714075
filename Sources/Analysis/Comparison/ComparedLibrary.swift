package import ProfileModel

/// A library of two launches, by the name of its file.
package struct ComparedLibrary: Hashable, Sendable {
    package var name: String
    /// nil: that launch did not load it.
    package var figures: Compared<LibraryFigures?>

    /// Of its `dlopen`, or where it was there from the start, of its initialisers; nothing where
    /// neither is known.
    package var wall: Compared<TimeSpan> {
        figures.map { $0.flatMap { $0.wall ?? $0.initializers } ?? .zero }
    }
}

extension ComparedLibrary {
    /// What came or went first, then by the change of its cost, the largest first.
    static func all(_ profiles: Compared<Profile>) -> [ComparedLibrary] {
        var result: [ComparedLibrary] = []
        var known: [String: [Int]] = [:]
        for library in profiles.before.libraries {
            let name = library.fileName
            known[name, default: []].append(result.count)
            result.append(
                ComparedLibrary(name: name, figures: Compared(before: library, after: nil)))
        }
        for library in profiles.after.libraries {
            let name = library.fileName
            // Several of one name are the same in the order of their loading.
            if let position = known[name]?.first {
                known[name]?.removeFirst()
                result[position].figures.after = library
            } else {
                result.append(
                    ComparedLibrary(name: name, figures: Compared(before: nil, after: library)))
            }
        }
        let sorted = result.sortedByChange(\.wall)
        return sorted.filter { !$0.isCommon } + sorted.filter(\.isCommon)
    }

    /// Whether both launches loaded it.
    package var isCommon: Bool { figures.before != nil && figures.after != nil }
}

extension LibraryFigures {
    fileprivate var fileName: String { String(Module(path: path).name) }
}
