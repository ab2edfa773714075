// What `Benchmarks/symbolicate.py` measures: reads addresses of a program (hexadecimal, a line each)
// and prints what they mean as llvm-symbolizer does: function, file and line of each frame,
// innermost first, an empty line behind each address.
//
//     SymbolicateBenchmark PROGRAM [CACHE] < ADDRESSES
//
// CACHE is a folder for what was found; without it nothing is kept. Its peak memory goes to standard
// error, in the kernel's words.

// Its `stderr` is not ready for threads, of which there is one here.
@preconcurrency import Glibc
import ProfileModel
import Symbolicate

guard CommandLine.arguments.count > 1 else {
    fatalError("usage: SymbolicateBenchmark PROGRAM [CACHE] < ADDRESSES")
}

/// All of standard input.
func input() -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(STDIN_FILENO, &piece, piece.count), count > 0 {
        bytes += piece[..<count]
    }
    return bytes
}

let addresses = input().split(separator: UInt8(ascii: "\n")).compactMap { line in
    UInt64(String(decoding: line.drop { $0 == 0x30 || $0 == 0x78 }, as: UTF8.self), radix: 16)
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

/// Standard output, a piece at a time.
struct Output {
    private var bytes: [UInt8] = []
    private static let piece = 1 << 16

    init() { bytes.reserveCapacity(2 * Self.piece) }

    mutating func add(_ text: String) {
        bytes += text.utf8
        if bytes.count >= Self.piece { flush() }
    }

    mutating func flush() {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { exit(1) }
            rest = rest.dropFirst(count)
        }
        bytes.removeAll(keepingCapacity: true)
    }
}

// What the addresses mean, as llvm-symbolizer writes it.
var output = Output()
for place in places {
    for frame in (table.frames[place] ?? []).reversed() {
        output.add(frame.function ?? "??")
        output.add("\n")
        output.add(frame.file ?? "??")
        output.add(":\(frame.line ?? 0)\n")
    }
    output.add("\n")
}
output.flush()

// Whoever runs this cannot ask: what it has itself counts as its children's, too.
let status = open("/proc/self/status", O_RDONLY)
var figures = [UInt8](repeating: 0, count: 4096)
let size = max(0, read(status, &figures, figures.count))
for line in figures[..<size].split(separator: UInt8(ascii: "\n"))
where line.starts(with: "VmHWM:".utf8) {
    fputs(String(decoding: line, as: UTF8.self) + "\n", stderr)
}
