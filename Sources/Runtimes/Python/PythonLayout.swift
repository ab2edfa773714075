package import ProfileModel

/// The structures of CPython that we read: offsets in bytes from the start of each structure. For
/// release builds with the global lock, on x86-64.
package struct PythonLayout: Hashable, Sendable {
    /// How the frames that one native frame of the interpreter's loop runs are recognised.
    enum Grouping: Hashable, Sendable {
        /// Each frame has its own native frame (3.8 to 3.10). A generator's frame has a pointer to
        /// its generator here.
        case single(generator: Int)
        /// The outermost frame has a byte here that is not 0 (3.11).
        case mark(Int)
        /// After the outermost frame follows a frame that is only a mark, and part of the native
        /// frame. Its owner is at least this.
        case shim(leastOwner: UInt8)
    }

    /// How a frame tells its instruction.
    enum Instruction: Hashable, Sendable {
        /// A number of 4 bytes at this offset; it counts units of `unit` bytes of code.
        case index(Int, unit: Int32)
        /// An address at this offset.
        case address(Int)
    }

    /// How a frame tells its line if the table is not valid.
    enum TracedLine: Hashable, Sendable {
        /// At the first offset, if the pointer at the second one is set (3.8, 3.9).
        case ifPointer(line: Int, trace: Int)
        /// At this offset, if it is not 0 (3.10).
        case ifSet(line: Int)
        case never
    }

    struct Runtime: Hashable, Sendable {
        var interpreters: Int
        var mainThread: Int
        var nextInterpreter: Int
        var threads: Int
    }

    struct Thread: Hashable, Sendable {
        var next: Int
        var interpreter: Int
        /// Its pthread id, 8 bytes.
        var pthread: Int
    }

    struct Frame: Hashable, Sendable {
        var grouping: Grouping
        var instruction: Instruction
        var tracedLine: TracedLine
        /// The offset of a byte; nil: all frames are alike.
        var owner: Int?
        var globals: Int
        var firstLocal: Int

        /// True if a frame belongs to a generator or a coroutine.
        func isOfGenerator(_ frame: FrameRecord) -> Bool {
            if case .single(let generator) = grouping { return frame.word(generator) != 0 }
            return owner.flatMap(frame.byte) == 1
        }
    }

    struct Code: Hashable, Sendable {
        var name: Int
        var file: Int
        /// nil: there is none (3.10 and older).
        var qualifiedName: Int?
        var firstLine: Int
        var table: Int
        var tableFormat: PythonLineTable.Format
        var start: Start
        /// The offset of the number of the first instruction at which a frame counts as begun.
        var firstTraceable: Int?

        enum Start: Hashable, Sendable {
            /// In a bytes object, with a pointer to it at this offset.
            case object(Int)
            /// At this offset in the code object. Its size, in units of 2 bytes, is where all such
            /// objects have theirs.
            case inside(Int)
        }
    }

    struct Object: Hashable, Sendable {
        var type = 8
        var size = 16
        var bytes = 32
        /// For a str: the number of its characters, and their kind.
        var length = 16
        var state = 32
        /// Where a str has its characters: ASCII ones; others; the pointer to them.
        var ascii: Int
        var compact: Int
    }

    var runtime: Runtime
    var thread: Thread
    var frame: Frame
    var code: Code
    var object: Object
    /// The sizes of objects according to their types.
    var codeSize: Int
    /// nil: not checked.
    var frameSize: Int?
    package var frames: FrameListLayout

    /// How many bytes of a code object we read.
    var codeRead: Int {
        var ends = [
            code.name, code.file, code.qualifiedName ?? 0, code.table, object.size,
            frames.identity.offset,
        ].map { $0 + 8 }
        ends += [code.firstLine, code.firstTraceable ?? 0].map { $0 + 4 }
        if case .object(let place) = code.start { ends.append(place + 8) }
        ends.append(frames.identity.offset + frames.identity.size)
        return ends.max() ?? 0
    }

    /// How many bytes of a thread's state we read.
    var threadRead: Int {
        max(thread.next, thread.interpreter, thread.pthread, frames.stateSize - 8) + 8
    }
}
