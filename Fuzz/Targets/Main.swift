import Agent
import CFuzz
import FuzzSupport
import Glibc

/// A fuzz target, by its name in docs/fuzzing.md. All are one program, because building takes long.
private struct Target: Sendable {
    /// Reads one input, which may be anything. It traps at what must never be.
    var read: @Sendable (UnsafeRawBufferPointer) -> Void
    /// Its inputs are ELF files, which are mutated within their sections.
    var readsELF = false
}

private let targets = [
    "Recording": Target(read: fuzzRecording),
    "Rows": Target(read: fuzzRows),
    "PerfData": Target(read: fuzzPerfData),
    "Rules": Target(read: fuzzRules, readsELF: true),
    "Symbols": Target(read: fuzzSymbols, readsELF: true),
    "Names": Target(read: fuzzNames),
    "Area": Target(read: fuzzArea),
    "Wire": Target(read: fuzzWire),
]

/// By the environment: all arguments are libFuzzer's.
private let target: Target = {
    let name = getenv("FIRSTLIGHT_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = targets[name] else {
        fatalError(
            "FIRSTLIGHT_FUZZ_TARGET is '\(name)', not one of \(targets.keys.sorted().joined(separator: ", "))"
        )
    }
    return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    target.read(UnsafeRawBufferPointer(start: data, count: size))
    return 0
}

@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(
    _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ most: Int, _ seed: UInt32
) -> Int {
    target.readsELF
        ? mutateELF(data, size, most, seed) : LLVMFuzzerMutate(data, size, most)
}

@main enum Main {
    static func main() { exit(fuzz_run(CommandLine.argc, CommandLine.unsafeArgv)) }
}
