import Glibc
import ProfileModel
import Runtimes
import System
import Unwind

/// One process's stacks, with JavaScript functions in place of the addresses of their code.
///
/// The functions are named while the recording goes on. V8 frees code that is no longer needed, and
/// puts other code there, so at the end we could not tell which of them ran.
struct NodeStacks: ~Copyable {
    private let pid: Int32
    private let held: HeldFiles
    private let functions: RuntimeFunctions
    /// When the processes were asked to write maps, in seconds since 1970. Older maps belong to
    /// other processes.
    private let start: Int
    private var tail = PerfMapTail()
    private var places = CodePlaces()
    /// The names as in the map, without V8's marks for how it runs the functions.
    private var names: [String] = []
    private var numbers: [String: Int32] = [:]
    /// The frames of functions that were on a stack.
    private var frames: [Int32: FrameAddress] = [:]
    /// Whether the map may have grown since it was last read.
    private var isStale = true

    private static let mostNames = 1 << 20
    /// Code whose name is of no use here.
    private static let otherCode: Int32 = -1

    init(_ pid: Int32, since start: Int, _ held: HeldFiles, _ functions: RuntimeFunctions) {
        self.pid = pid
        self.start = start
        self.held = held
        self.functions = functions
    }

    /// Call it before newer samples are taken.
    mutating func expectMore() {
        isStale = true
        if tail.isOpen { update() }
    }

    /// - Parameter frame: an address in the process, in code that lies in no file.
    /// - Returns: nil: the code there is unknown.
    mutating func function(at frame: FrameAddress) -> FrameAddress? {
        update()
        guard let code = places.code(at: frame.address.lookup), code != Self.otherCode else {
            return nil
        }
        if let known = frames[code] { return known }
        let entry = names[Int(code)]
        guard let function = NodeFunction(entry),
            let made = functions.frame(
                of: SourceFrame(
                    function: RecordedText.bounded(function.shownName),
                    file: RecordedText.bounded(function.script), line: function.line,
                    isInlined: false, linkageName: RecordedText.bounded(entry)),
                in: Module.nodePath)
        else { return nil }
        held.note(script: function.script, of: pid)
        frames[code] = made
        return made
    }

    private mutating func update() {
        guard isStale else { return }
        isStale = false
        guard let place = held.maps[pid] else { return }
        tail.open(place, writtenSince: start)
        if tail.hasRestarted() { places = CodePlaces() }
        while let (text, lines) = tail.next() {
            for line in lines {
                let code = number(of: text[line.name])
                places.add(code, from: line.start, to: line.end)
            }
        }
    }

    private mutating func number(of name: ArraySlice<UInt8>) -> Int32 {
        guard NodeFunction.isTagged(name), names.count < Self.mostNames else {
            return Self.otherCode
        }
        let entry = NodeFunction.withoutTier(String(decoding: name, as: UTF8.self))
        if let known = numbers[entry] { return known }
        let number = Int32(names.count)
        names.append(entry)
        numbers[entry] = number
        return number
    }
}

/// A process's perf map, read as it grows.
struct PerfMapTail: ~Copyable {
    /// nil: not open.
    private var file: Descriptor?
    private var offset = 0

    /// We read no more than this: a map may grow without end.
    private static let largest = 256 << 20
    private static let chunk = 1 << 20

    var isOpen: Bool { file != nil }

    /// - Parameter earliest: seconds since 1970; a map written before belongs to another process.
    mutating func open(_ place: PerfMapPlace, writtenSince earliest: Int) {
        guard !isOpen, let found = try? Descriptor(regular: place.path, O_NOFOLLOW),
            DescriptorReserve.leaves(found.number),
            let status = try? found.status(), place.owners.contains(status.st_uid),
            status.st_mtim.tv_sec >= earliest
        else { return }
        file = consume found
    }

    /// Whether the process has begun the file anew.
    mutating func hasRestarted() -> Bool {
        guard let status = try? file?.status(), status.st_size < offset else { return false }
        offset = 0
        return true
    }

    /// Some new lines, and the text that contains them; nil: there are none.
    mutating func next() -> (text: [UInt8], lines: [PerfMapLine])? {
        guard isOpen, offset < Self.largest else { return nil }
        let text = nextChunk()
        let newline = UInt8(ascii: "\n")
        guard let end = text.lastIndex(of: newline) else { return nil }
        offset += end + 1
        return (text, text[..<end].split(separator: newline).compactMap(PerfMapLine.init))
    }

    private func nextChunk() -> [UInt8] {
        file?.known(at: UInt64(offset), count: Self.chunk) ?? []
    }
}
