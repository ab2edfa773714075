import Agent
import Architecture
import ELF
import Images
import ProcessIO
import ProfileModel

/// A program that the dynamic linker was asked to run (`ld-linux-x86-64.so.2 ./app`; AppImages,
/// Guix and Nix do so). The kernel knows the linker only. So the program is found in the linker's
/// list and the mappings, as soon as the linker has mapped it.
struct LinkedProgram {
    /// Its file.
    let path: String
    let loaded: LoadedImage
    private let entry: UInt64

    /// nil: the linker has not mapped it yet, or its place cannot be found.
    init?(_ linker: DynamicLinker, _ mappings: [ProcFormats.MapsLine], memory: TargetMemory) {
        guard let object = LinkMap.objects(debug: linker.debug, memory: memory).first,
            // A program that is not moved has a bias of 0. Where the linker is musl's, our code leads it to
            // a dynamic section that is not the program's.
            let data = [object.bias, object.dynamicAddress].lazy.compactMap({ address in
                mappings.first { $0.start <= address && address < $0.end }
            }).first, data.path.hasPrefix("/"),
            let head = mappings.last(where: {
                $0.start <= data.start && $0.fileOffset == 0 && $0.inode == data.inode
                    && $0.path == data.path
            }), let header = ELFHeader(memory.read(at: head.start, count: 64)),
            let image = LoadedImage(base: head.start, memory: memory)
        else { return nil }
        (path, loaded, entry) = (data.path, image, header.entry &+ image.bias)
    }

    /// The word through which its `main` can be noted. nil: its start code is unknown.
    var startPointer: UInt64? {
        loaded.startPointer(
            of: StartCode(loaded.memory.read(at: entry, count: StartCode.length), at: entry))
    }

    /// The arguments as the program itself sees them, except for a name chosen for it (`--argv0`).
    func arguments(ofLinker all: [String]) -> [String] {
        let name = path.split(separator: "/").last
        let own = all.dropFirst().firstIndex { $0.split(separator: "/").last == name }
        return own.map { Array(all[$0...]) } ?? all
    }
}
