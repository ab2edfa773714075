import ProfileModel

/// The linker's list of libraries, and which of them were told.
struct LibraryList {
    let linker: DynamicLinker
    /// Their biases: no two are in the same place.
    private var told: Set<UInt64> = []

    init(_ linker: DynamicLinker) { self.linker = linker }

    /// Takes that for told.
    mutating func markTold(_ bias: UInt64) { told.insert(bias) }

    mutating func markTold(_ objects: [LinkedObject]) {
        for object in objects { markTold(object.bias) }
    }

    /// Those that were not told yet, as of now, each with who needs it. The program is none.
    ///
    /// - Parameter program: its path, which the list does not have.
    /// - Parameter most: no more than the list's first ones; what follows is told otherwise.
    mutating func untold(program: String, most: Int, memory: TargetMemory)
        -> [(object: LinkedObject, requestedBy: String?)]
    {
        let objects = Array(LinkMap.objects(debug: linker.debug, memory: memory).prefix(most))
        guard objects.contains(where: { !told.contains($0.bias) }) else { return [] }
        var requester: [String: String] = [:]
        for (index, object) in objects.enumerated() {
            // The list is in the order in which the linker follows the needs.
            for name in object.dynamic(memory).names(memory: memory).needed
            where requester[name] == nil {
                requester[name] = index == 0 ? program : object.path
            }
        }
        let untold = objects.dropFirst().filter {
            $0.path.hasPrefix("/") && !told.contains($0.bias)
        }
        markTold(objects)
        return untold.map { ($0, requester[$0.name(memory)]) }
    }
}

extension LinkedObject {
    /// What others call it when they need it.
    func name(_ memory: TargetMemory) -> String {
        dynamic(memory).names(memory: memory).soname
            ?? path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Where its file is for us. nil: it has none, but a name only (the vdso).
    func file(of process: Int32) -> String? {
        let pid = FirstThread.orHolder(of: process) ?? process
        if path.isEmpty { return "/proc/\(pid)/exe" }
        if path.hasPrefix("/") { return "/proc/\(pid)/root\(path)" }
        return path.contains("/") ? "/proc/\(pid)/cwd/\(path)" : nil
    }

    func image(_ memory: TargetMemory) -> LoadedImage? { LoadedImage(base: bias, memory: memory) }

    /// Of its span in the address space, in bytes.
    func size(_ memory: TargetMemory) -> Int64 {
        let segments = image(memory)?.segments ?? []
        let loaded = segments.filter { $0.kind == 1 }
        guard let start = loaded.map(\.start).min(),
            let end = loaded.map({ $0.start &+ $0.size }).max(), end > start
        else { return 0 }
        return Int64(clamping: end - start)
    }
}

extension TraceSession {
    /// Tells of libraries that were not told yet.
    ///
    /// - Parameter start: when the linker took them up, as far as that is known.
    ///
    /// - Parameter most: how many of the linker's list, from its beginning.
    func reportLibraries(since start: MonotonicTime, isInitial: Bool, most: Int = .max) {
        guard let image = stage.image else { return }
        let memory = TargetMemory(pid: pid)
        if isInitial { image.path = process.image(at: start).path }
        for (object, asker) in image.libraries?.untold(
            program: image.path, most: most, memory: memory) ?? []
        {
            sink.receive(
                .library(
                    ObservedLibrary(
                        load: LibraryLoad(
                            path: object.path, start: start, size: object.size(memory),
                            requestedBy: asker, isInitial: isInitial))))
        }
    }

    /// Of a running program: what it has loaded already is no news.
    func listLibraries(ofAttached image: RunningImage) {
        let memory = TargetMemory(pid: pid)
        let base = AuxiliaryVector(pid: pid).linkerBase
        guard let linker = DynamicLinker(base: base, memory: memory) else { return }
        var list = LibraryList(linker)
        list.markTold(LinkMap.objects(debug: linker.debug, memory: memory))
        image.libraries = list
    }

    /// After code was mapped, where the linker does not tell our code of it: the time is that of
    /// the look. A look may fall in the middle of the linker's work: its list is read after that.
    func reportLibrariesSeen() {
        guard let image = stage.image, let change = observer.mappings.lastChange,
            change != image.listedChange, instrumentation?.loadedLibraries == nil,
            image.libraries?.linker.isConsistent(TargetMemory(pid: pid)) == true
        else { return }
        image.listedChange = change
        reportLibraries(since: change, isInitial: false)
    }
}
