import Agent
import Images
import ProcessIO
import ProfileModel

/// The linker's list of libraries, and which of them were reported.
struct LibraryList {
    let linker: DynamicLinker
    /// The biases of the reported ones: no two are in the same place.
    private var told: Set<UInt64> = []

    init(_ linker: DynamicLinker) { self.linker = linker }

    /// Takes the library at this bias for reported.
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

/// When to read the linker's list after code was mapped. The linker maps a library before it says that
/// the list is about to change. A list that is complete may thus be the one from before, and is read
/// several times.
struct LibraryListing {
    let change: MonotonicTime
    private var search: RepeatedSearch
    /// The last reading is an eighth of a second behind the first.
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

extension ProcessSession {
    /// Reports libraries that were not reported yet.
    ///
    /// - Parameter start: when the linker began to load them, as far as known.
    ///
    /// - Parameter most: how many entries to read from the beginning of the linker's list.
    func reportLibraries(
        _ memory: TargetMemory, since start: MonotonicTime, isInitial: Bool, most: Int = .max
    ) {
        guard let image = stage.image else { return }
        if isInitial, image.linked == nil { image.path = process.image(at: start).path }
        let untold =
            image.libraries?.untold(program: image.path, most: most, memory: memory) ?? []
        if !isInitial, !untold.isEmpty, let area, !area.hasRoomForLoads, !area.isFiltered {
            for _ in untold { note(.untimedLibraries) }
        }
        for (object, asker) in untold {
            let size = object.size(memory)
            sink.receive(
                .library(
                    ObservedLibrary(
                        load: LibraryLoad(
                            path: path(of: object.path, at: object.bias, size),
                            start: start, size: size,
                            requestedBy: asker.map(absolutePath), isInitial: isInitial))))
        }
    }

    /// A library's absolute path: the linker's list has what it found the library by, which may be
    /// relative (LD_LIBRARY_PATH=., LD_PRELOAD=./x.so). The kernel names the file, as long as it is mapped;
    /// otherwise the program's folder is the one it was found from, unless the program has left that.
    ///
    /// - Parameter size: in bytes, from `bias` on; 0: not known.
    func path(of library: String, at bias: UInt64, _ size: Int64) -> String {
        guard !library.hasPrefix("/") else { return library }
        let mapped = observer.mappings.code.first {
            $0.path.hasPrefix("/") && $0.start >= bias
                && $0.start &- bias < UInt64(clamping: size)
        }
        return mapped?.path ?? absolutePath(library)
    }

    func absolutePath(_ path: String) -> String {
        ProgramPath.absolute(path, of: pid) ?? path
    }

    /// For a running program: the libraries that are loaded already are not reported.
    func listLibraries(ofAttached image: RunningImage) {
        let memory = TargetMemory(pid: pid)
        guard let linker = ImageStart(pid: pid).linker else { return }
        var list = LibraryList(linker)
        list.markTold(LinkMap.objects(debug: linker.debug, memory: memory))
        image.libraries = list
    }

    /// Called after code was mapped, where the linker does not call our code. The libraries get the
    /// time of the look. A look may fall into the middle of the linker's work: then its list is
    /// read at a later one.
    func reportLibrariesSeen(at now: MonotonicTime) {
        guard let image = stage.image, let change = observer.mappings.lastChange,
            instrumentation?.loadedLibraries == nil
        else { return }
        if image.listing?.change != change { image.listing = LibraryListing(change, at: now) }
        guard image.listing?.isDue(at: now) == true,
            image.libraries?.linker.isConsistent(TargetMemory(pid: pid)) == true
        else { return }
        image.listing?.wasRead(at: now)
        reportLibraries(TargetMemory(pid: pid), since: change, isInitial: false)
    }
}
