import Agent
import CAgent
import Images
import ProcessIO
import ProfileModel

/// Reports libraries, and the program that the dynamic linker was asked to run.
struct LibraryReports: SessionPart {
    let context: SessionContext

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
        if !isInitial, !untold.isEmpty, let area, !area.hasRoomForLoads,
            !area.isFiltered
        {
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

    /// A library's absolute path. The linker's list has the path by which the linker found the
    /// library, which may be relative (LD_LIBRARY_PATH=., LD_PRELOAD=./x.so). The kernel names the
    /// file, as long as it is mapped. Otherwise the path counts from the program's folder, unless
    /// the program has left that.
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
        process.absolute(path) ?? path
    }

    /// For a running program: the libraries that are loaded already are not reported.
    func listLibraries(ofAttached image: RunningImage) {
        let memory = process.memory
        guard let linker = ImageStart(of: process).linker else { return }
        var list = LibraryList(linker)
        list.markTold(LinkMap.objects(debug: linker.debug, memory: memory))
        image.libraries = list
    }

    /// Called after code was mapped, where the linker does not call our code. The libraries get the
    /// time of the look. If a look falls into the middle of the linker's work, its list is read at
    /// a later one.
    func reportLibrariesSeen(at now: MonotonicTime) {
        guard let image = stage.image, let change = observer.mappings.lastChange,
            context.instrumentation?.loadedLibraries == nil
        else { return }
        if image.listing?.change != change { image.listing = LibraryListing(change, at: now) }
        guard image.listing?.isDue(at: now) == true,
            image.libraries?.linker.isConsistent(process.memory) == true
        else { return }
        image.listing?.wasRead(at: now)
        reportLibraries(process.memory, since: change, isInitial: false)
    }

    /// Learns which program the linker runs, once it has mapped it, and reports it.
    func learnLinkedProgram(_ code: Instrumentation) {
        guard code.runsLinker, let image = stage.image, image.linked == nil,
            let opening = image.opening, let linker = code.linker,
            let program = LinkedProgram(
                linker, ImageStart(of: process).mappings, memory: process.memory)
        else { return }
        image.linked = program
        image.path = program.path
        image.arguments = program.arguments(ofLinker: image.arguments)
        sink.receive(
            .linked(Image(path: image.path, arguments: image.arguments, time: opening.time)))
        sink.receive(.border(opening))
    }

    /// The linker's list of an image. The program's entry has no path there: it is the process's file,
    /// unless the linker is that.
    func linkedObjects(
        _ linker: DynamicLinker, of image: RunningImage?, _ memory: TargetMemory
    ) -> [LinkedObject] {
        var objects = LinkMap.objects(debug: linker.debug, memory: memory)
        if let program = image?.linked, !objects.isEmpty { objects[0].path = program.path }
        return objects
    }
}
