// What `Benchmarks/symbolicate.py` measures: reads addresses of a program (hexadecimal, a line each)
// and prints what they mean as llvm-symbolizer does: function, file and line of each frame,
// innermost first, an empty line behind each address.
//
//     SymbolicateBenchmark PROGRAM [CACHE] < ADDRESSES
//
// CACHE is a folder for what was found; without it nothing is kept.

// Its `stdout` is not ready for threads, of which there is one here.
@preconcurrency import Glibc
import ProfileModel
import Symbolicate

guard CommandLine.arguments.count > 1 else {
    fatalError("usage: SymbolicateBenchmark PROGRAM [CACHE] < ADDRESSES")
}

var addresses: [UInt64] = []
while let line = readLine() {
    let digits = line.hasPrefix("0x") ? line.dropFirst(2) : line[...]
    if let address = UInt64(digits, radix: 16) { addresses.append(address) }
}

let program = CommandLine.arguments[1]
var recording = Recording(
    header: Recording.Header(pid: 1, isAttached: false, capture: .ptrace, frequency: 1000))
recording.modules = [Module(path: program)]
let places = addresses.map { address in
    FrameAddress(module: ModuleIndex(0), address: CodeAddress(address, .instruction))
}
for place in places { _ = recording.stacks.intern(parent: nil, frame: place) }

let cache = CommandLine.arguments.dropFirst(2).first.map { SymbolCache(folder: $0) }
let table = Symbolicator(cache: cache).symbolicate(recording)

setvbuf(stdout, nil, _IOFBF, 1 << 16)

/// On standard output, through the C library's buffer.
func show(_ text: String) {
    var text = text
    text.withUTF8 { _ = fwrite($0.baseAddress, 1, $0.count, stdout) }
}

for place in places {
    for frame in (table.frames[place] ?? []).reversed() {
        show(frame.function ?? "??")
        show("\n")
        show(frame.file ?? "??")
        show(":\(frame.line ?? 0)\n")
    }
    show("\n")
}
fflush(stdout)
