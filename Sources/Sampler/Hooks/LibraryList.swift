import Images
import ProcessIO
import ProfileModel

/// The linker's list of libraries, and which of them were reported.
struct LibraryList {
    let linker: DynamicLinker
    /// The biases of the reported libraries: no two are in the same place.
    private var told: Set<UInt64> = []

    init(_ linker: DynamicLinker) { self.linker = linker }

    /// Marks the library at this bias as reported.
    mutating func markTold(_ bias: UInt64) { told.insert(bias) }

    mutating func markTold(_ objects: [LinkedObject]) {
        for object in objects { markTold(object.bias) }
    }

    /// The libraries in the list now that were not reported yet, each with the one that needs it.
    /// The program does not count.
    ///
    /// - Parameter program: the program's path, which the list does not have.
    /// - Parameter most: how many entries to read from the list's beginning; the others are
    ///   reported elsewhere.
    mutating func untold(program: String, most: Int, memory: TargetMemory)
        -> [(object: LinkedObject, requestedBy: String?)]
    {
        let objects = Array(LinkMap.objects(debug: linker.debug, memory: memory).prefix(most))
        guard objects.contains(where: { !told.contains($0.bias) }) else { return [] }
        var requester: [String: String] = [:]
        var names: [String] = []
        for (index, object) in objects.enumerated() {
            let (needed, soname) = object.dynamic(memory).names(memory: memory)
            names.append(object.name(soname))
            // The list has the order in which the linker follows the needs.
            for name in needed where requester[name] == nil {
                requester[name] = index == 0 ? program : object.path
            }
        }
        let untold = objects.indices.dropFirst().filter { index in
            // The vdso has a name and no path.
            objects[index].path.contains("/") && !told.contains(objects[index].bias)
        }
        markTold(objects)
        return untold.map { (objects[$0], requester[names[$0]]) }
    }
}

/// When to read the linker's list after code was mapped. The linker maps a library before it says
/// that the list is about to change. A list that is complete may thus still be the old one, so it
/// is read several times.
struct LibraryListing {
    let change: MonotonicTime
    private var search: RepeatedSearch
    /// The last reading comes an eighth of a second after the first.
    private var readingsLeft = 8

    init(_ change: MonotonicTime, at now: MonotonicTime) {
        self.change = change
        search = RepeatedSearch(at: now)
    }

    func isDue(at now: MonotonicTime) -> Bool { readingsLeft > 0 && search.isDue(at: now) }

    mutating func wasRead(at now: MonotonicTime) {
        readingsLeft -= 1
        search.postpone(at: now)
    }
}
