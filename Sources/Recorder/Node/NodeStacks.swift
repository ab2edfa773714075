import ProfileModel
import Runtimes
import Unwind

/// One process's stacks with functions of JavaScript in the place of the addresses of their code.
///
/// They are named while the recording goes on: V8 frees code that is no longer needed, and puts other
/// code there. At the end nobody could tell which of them ran.
struct NodeStacks: ~Copyable {
    private let pid: Int32
    private let held: HeldFiles
    private let functions: RuntimeFunctions
    /// Seconds since 1970: older maps are other processes'.
    private let start: Int
    private var tail = PerfMapTail()
    private var places = CodePlaces()
    /// As the map names them, without how V8 runs them.
    private var names: [String] = []
    private var numbers: [String: Int32] = [:]
    /// Of those that were on a stack.
    private var frames: [Int32: FrameAddress] = [:]
    /// Whether the map may have more than was read.
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

    /// To be called before samples are taken that are newer than those before.
    mutating func expectMore() {
        isStale = true
        if tail.isOpen { update() }
    }

    /// - Parameter frame: of code that lies in no file, where the process has it.
    /// - Returns: nil: what lies there is not known.
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
        frames[code] = made
        return made
    }

    private mutating func update() {
        guard isStale else { return }
        isStale = false
        guard let owner = held.owner else { return }
        tail.open(
            "\(held.root ?? "")/tmp/perf-\(pid).map", owner: owner, writtenSince: start)
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
