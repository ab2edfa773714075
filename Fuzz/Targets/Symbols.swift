import FuzzSupport
import ProfileModel
import Symbolicate

private let file = {
    let file = TemporaryFile("symbols")
    // It is its own package: some seeds have the sections of both.
    file.link(".dwp")
    return file
}()

/// An ELF file with its DWARF: looks up addresses all over its code.
func fuzzSymbols(_ bytes: UnsafeRawBufferPointer) {
    file.write(bytes)
    let resolver = ModuleResolver(Module(path: file.path), search: .none)
    for segment in ELFLayout(bytes).code.prefix(4) {
        let step = max(segment.size / 64, 1)
        for index in 0..<min(segment.size / step, 64) {
            _ = resolver.frames(at: segment.address &+ index &* step)
        }
    }
    _ = resolver.dataNames(at: [0, 0x4000, 0x4010, .max])
    _ = LibraryReferences(search: .none).find(in: loading)
}

/// A process that loaded the file as a library.
private let loading: Recording = {
    let start = MonotonicTime(nanoseconds: 0)
    let header = Recording.Header(pid: 1, isAttached: false, capture: .untraced, frequency: 1_000)
    var recording = Recording(header: header)
    recording.modules = [Module(path: file.path)]
    recording.mappings = [
        Mapping(start: 0, end: 1, bias: 0, module: ModuleIndex(0), time: start)
    ]
    recording.libraries = [LibraryLoad(path: file.path, start: start, size: 1, isInitial: true)]
    return recording
}()
