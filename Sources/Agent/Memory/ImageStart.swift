package import Architecture
import Glibc
package import Images
package import ProcessIO
import ProfileModel

/// The data that our code needs of a program image at its first instruction. We read them from the
/// image's memory, which no other process can have replaced.
package struct ImageStart {
    package let vector: AuxiliaryVector
    /// nil: it cannot be read.
    package let program: LoadedImage?
    /// True if the dynamic linker itself was executed (`ld-linux-x86-64.so.2 ./app`). It is ``program``
    /// then; the program that its arguments name is not there yet.
    package let runsLinker: Bool
    /// Where the dynamic linker is; 0 for a static program.
    private let linkerBase: UInt64
    /// The dynamic linker's image; nil for a static program.
    package let linkerImage: LoadedImage?
    /// nil for a static program, or a linker that we cannot follow.
    package let linker: DynamicLinker?
    /// Where our own linker has room for a piece of code, if the image uses the same linker.
    private let knownCave: UInt64?
    private let usesOurLinker: Bool
    private let isAtFirstInstruction: Bool
    /// The first bytes of the program's entry code, if known without reading them.
    package var knownEntryCode: [UInt8]?
    private let list: MappingList

    /// The process's mappings. Reading them takes longer than everything else here, and the program
    /// is stopped meanwhile: we read them only if needed.
    package var mappings: [ProcFormats.MapsLine] { list.lines }

    private final class MappingList {
        private let process: any ProcessAccess
        private(set) lazy var lines = process.mappings()

        init(_ process: any ProcessAccess) { self.process = process }
    }

    /// - Parameter isAtFirstInstruction: true if nothing has run yet.
    package init(of process: any ProcessAccess, isAtFirstInstruction: Bool = false) {
        self.init(
            process, ourLinker: Self.ourLinker, isAtFirstInstruction: isAtFirstInstruction)
    }

    private init(
        _ process: any ProcessAccess, ourLinker: KnownLinker?, isAtFirstInstruction: Bool = false
    ) {
        self.isAtFirstInstruction = isAtFirstInstruction
        let memory = process.memory
        vector = process.vector
        list = MappingList(process)
        let image = LoadedImage(
            programHeaders: vector.programHeaders, count: vector.programHeaderCount, memory: memory)
        program = image
        runsLinker = vector.linkerBase == 0 && image?.isDynamicLinker == true
        linkerBase = runsLinker ? image?.bias ?? 0 : vector.linkerBase
        linkerImage =
            runsLinker
            ? image : linkerBase == 0 ? nil : LoadedImage(base: linkerBase, memory: memory)
        if let ourLinker, let linkerImage, linkerImage.identity == ourLinker.identity {
            usesOurLinker = true
            linker = ourLinker.linker.moved(by: linkerBase)
            let base = linkerBase
            knownCave = ourLinker.cave.map { base &+ $0 }
        } else {
            usesOurLinker = false
            linker = linkerImage.flatMap { DynamicLinker($0) }
            knownCave = nil
        }
    }

    /// A dynamic linker known by its content, with the places that we found in it. They are
    /// relative to the linker's address.
    private struct KnownLinker {
        var identity: LoadedImage.Identity
        var linker: DynamicLinker
        var cave: UInt64?
    }

    /// Most programs use the same dynamic linker as we do: then we know all places in it.
    private static let ourLinker: KnownLinker? = {
        let own = ImageStart(KernelProcess.ourselves, ourLinker: nil)
        let base = own.linkerBase
        guard let linker = own.linker, let identity = own.linkerImage?.identity, identity.isUnique
        else { return nil }
        let cave = CodeCave.find(
            in: [own.linkerImage].compactMap { $0 }, own.mappings, size: AgentCode.pieceSize)
        return KnownLinker(
            identity: identity, linker: linker.moved(by: 0 &- base), cave: cave.map { $0 &- base })
    }()

    /// Rehearses on ourselves the work that will be done while a program is stopped: the first time
    /// takes longer.
    package static func prepare() {
        let own = ImageStart(of: KernelProcess.ourselves)
        var contents = AgentMemory.Contents(
            place: own.place(size: 1 << 20) ?? 0, recorder: 0, cookie: SharedSlots.makeCookie())
        own.fillMain(into: &contents)
        _ = ProcessStatus(pid: getpid())
        _ = AgentCode.boot(
            descriptor: nil, place: own.anyCave ?? 0, size: 0, isAtEntry: own.notesMain(contents))
    }

    package var isStatic: Bool { linkerBase == 0 }

    /// True if the C library is there from the beginning: in a static program, or where the C
    /// library is also the dynamic linker, as in musl.
    package var hasCLibrary: Bool { isStatic || !linkingLibrary.isEmpty }

    /// The linker's code, if the linker is the C library.
    private var linkingLibrary: [CodeMapping] {
        guard !isStatic, linker?.isMusl != false,
            let path = mappings.first(where: { $0.start == linkerBase })?.path,
            linker != nil || CallSites.isLibrary(path)
        else { return [] }
        return code.filter { $0.path == path }
    }

    /// Where the area should be: near the code that leads to it. This is the code of the linker and
    /// of the libraries, which will be below the linker; in a static program, its own.
    package func place(size: Int) -> UInt64? {
        if usesOurLinker, isAtFirstInstruction, let place = placeBelowLinker(size: size) {
            return place
        }
        let code = isStatic ? vector.entry : linkerBase
        return IslandPlace.place(
            near: code, size: UInt64(size), among: mappings.map { $0.start..<$0.end })
    }

    /// Nothing but the linker and the kernel's own pages is mapped there yet. Any other mapping
    /// there is not replaced.
    private func placeBelowLinker(size: Int) -> UInt64? {
        let kernels = vector.vdso == 0 ? linkerBase : vector.vdso
        let end = min(kernels, linkerBase)
        let space = UInt64(size) + Self.roomBelowLinker
        guard end > 2 * space, linkerBase - end < Self.roomBelowLinker else { return nil }
        return VirtualMemory.pageStart(of: end - space)
    }

    /// Room for the pages that the kernel puts below its code, and for small libraries.
    private static let roomBelowLinker: UInt64 = 1 << 20

    /// Where trampolines must be so that the program's own code can reach them.
    package func islandPlace(besides area: Range<UInt64>) -> UInt64? {
        let taken = mappings.map { $0.start..<$0.end } + [area]
        return isStatic
            ? nil
            : IslandPlace.place(
                near: vector.entry, size: UInt64(TrampolineSpace.size),
                among: taken.sorted { $0.lowerBound < $1.lowerBound })
    }

    /// Where a static program, or the library that is there from the beginning, makes the system
    /// calls that concern us. We do not search a large one, because the program is stopped
    /// meanwhile.
    ///
    /// - Parameter prepared: the sites found in the program's file.
    package func ownSites(_ prepared: PreparedSites?) -> CallSites {
        if let program, let prepared,
            let sites = prepared.moved(to: program, headers: vector.programHeaders)
        {
            return sites
        }
        let code = isStatic ? code.filter { $0.path.hasPrefix("/") } : linkingLibrary
        guard let program, code.reduce(0, { $0 + $1.end - $1.start }) <= Self.searchedCode else {
            return .unknown
        }
        return CallSites.find(in: code, memory: program.memory)
    }

    private static let searchedCode: UInt64 = 1 << 20

    /// The code that is mapped so far.
    private var code: [CodeMapping] {
        mappings.filter(\.isExecutable).map {
            CodeMapping(
                start: $0.start, end: $0.end, fileOffset: $0.fileOffset, path: $0.path,
                inode: $0.inode)
        }
    }

    /// An unused place for a piece of our code; nil: there is none.
    package var cave: UInt64? {
        if let knownCave { return knownCave }
        return CodeCave.find(
            in: [linkerImage, program].compactMap { $0 }, mappings, size: AgentCode.pieceSize)
    }

    /// The same in any library, if the linker and the program have none.
    package var anyCave: UInt64? {
        guard let memory = program?.memory else { return nil }
        return cave
            ?? CodeCave.find(
                in: mappings.filter { $0.isExecutable && $0.start >= $0.fileOffset }.compactMap {
                    LoadedImage(base: $0.start - $0.fileOffset, memory: memory)
                }, mappings, size: AgentCode.pieceSize)
    }

    /// The beginning of the program's file, which the kernel maps with its headers. Its path is
    /// unknown here.
    package var noted: NotedLibrary? {
        guard let program, vector.programHeaders != 0 else { return nil }
        let address = VirtualMemory.pageStart(of: vector.programHeaders)
        return NotedLibrary(
            path: "", address: address,
            start: program.memory.read(at: address, count: NotedLibrary.length))
    }

    /// The program's entry code.
    package var startCode: StartCode? {
        guard program != nil, vector.entry != 0 else { return nil }
        return StartCode(entryCode, at: vector.entry)
    }

    package var entryCode: [UInt8] {
        knownEntryCode ?? program?.memory.read(at: vector.entry, count: StartCode.length) ?? []
    }

    /// True if the program's own code begins at its entry: no start code of a C library leads to its
    /// `main` (Go).
    package var beginsAtEntry: Bool {
        !runsLinker && startCode?.isCLibrarys == false && !entryCode.isEmpty
    }

    /// Fills in how `main` can be noted. A dynamic program looks up its C library's start function
    /// in a word that can be changed; in a static program the entry code names `main`.
    package func fillMain(into contents: inout AgentMemory.Contents) {
        guard !runsLinker, let program, let code = startCode else { return }
        if isStatic {
            // musl's program relocates itself there first, and we do not know the code after that.
            if code.isMusl, program.segments.contains(where: { $0.kind == 2 }) { return }
            guard case .at(let main, let reference?) = code.main, program.isExecutable(main),
                let word = program.memory.word(at: reference.address),
                let patched = reference.word(
                    leadingTo: contents.place &+ AgentCode.main, in: word)
            else { return }
            contents.main = main
            contents.patches.append(AgentMemory.Patch(address: reference.address, word: patched))
        } else if let pointer = program.startPointer(of: code) {
            contents.startPointer = pointer
            contents.startIsProtected = program.isProtected(pointer)
        }
    }

    /// The initialisers of a static program, if they can be timed: `main` begins when the last one
    /// ends.
    package func fillInitializers(
        into contents: inout AgentMemory.Contents, ofFile path: @autoclosure () -> String
    ) {
        guard isStatic, let program, contents.main != 0 else { return }
        contents.initializers = StaticInitializers(program, ofFile: path())
    }

    /// A static program in the form of a linker's list entry.
    package var loneProgram: LoneProgram? {
        guard isStatic, let program else { return nil }
        return LoneProgram(
            object: LinkedObject(bias: program.bias, path: "", dynamicAddress: 0),
            dynamicSection: program.segments.first { $0.kind == 2 }?.start)
    }

    /// True if a static program certainly has its final values: it does not relocate itself, or it
    /// has already protected the memory that it relocates (RELRO).
    package var isRelocated: Bool {
        guard isStatic, let program else { return false }
        guard program.segments.contains(where: { $0.kind == 2 }) else { return true }
        guard let relro = program.segments.first(where: { $0.kind == 0x6474_E552 }) else {
            return false
        }
        return mappings.contains {
            $0.start <= relro.start && relro.start < $0.end && !$0.isWritable
        }
    }

    /// True if `main` will be noted.
    package func notesMain(_ contents: AgentMemory.Contents) -> Bool {
        contents.main != 0 || contents.entry != nil
            || (contents.startPointer != 0 && contents.debug != 0)
    }
}

extension LoadedImage {
    /// The address of the pointer to the C library's start function, which a dynamic program calls with
    /// the address of `main`; nil: the program calls it otherwise.
    package func startPointer(of code: StartCode) -> UInt64? {
        guard let pointer = code.startPointer(read: memory.read), contains(pointer) else {
            return nil
        }
        return switch code.main {
        case .at(let main, _): isExecutable(main) ? pointer : nil
        case .inSlot: pointer
        case nil: nil
        }
    }
}

/// A static program, for which no list of libraries exists.
package struct LoneProgram {
    package var object: LinkedObject
    /// The address of its dynamic section, by which it will relocate itself. nil: it has none, and
    /// its data already has its final values at the first instruction.
    package var dynamicSection: UInt64?
}
