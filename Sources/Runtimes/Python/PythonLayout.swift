package import ProfileModel

/// Where CPython keeps what we read, in bytes from the start of each thing. Of release builds with the
/// global lock, on x86-64.
package struct PythonLayout: Hashable, Sendable {
    /// How frames tell which of them one native frame of the interpreter's loop runs.
    enum Grouping: Hashable, Sendable {
        /// Each frame is run by one of its own (3.8 to 3.10). Of a generator's, a pointer to that is here.
        case single(generator: Int)
        /// A frame with a byte that is not 0, here, is the outermost one (3.11).
        case mark(Int)
        /// A frame that is only a mark, and part of the native frame, follows the outermost one. Its
        /// owner is at least this.
        case shim(leastOwner: UInt8)
    }

    /// How a frame tells its instruction.
    enum Instruction: Hashable, Sendable {
        /// A number of 4 bytes, in so many bytes of code, at this place.
        case index(Int, unit: Int32)
        /// An address, at this place.
        case address(Int)
    }

    /// How a frame tells its line where the table does not hold.
    enum TracedLine: Hashable, Sendable {
        /// At the first place, if the pointer at the second one is set (3.8, 3.9).
        case ifPointer(line: Int, trace: Int)
        /// At this place, if it is not 0 (3.10).
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
        /// Its id of 8 bytes, as pthreads know it.
        var pthread: Int
    }

    struct Frame: Hashable, Sendable {
        var grouping: Grouping
        var instruction: Instruction
        var tracedLine: TracedLine
        /// A byte; nil: all frames are alike.
        var owner: Int?
        var globals: Int
        var firstLocal: Int

        /// Whether a frame is a generator's or a coroutine's.
        func isOfGenerator(_ frame: FrameRecord) -> Bool {
            if case .single(let generator) = grouping { return frame.word(generator) != 0 }
            return owner.flatMap(frame.byte) == 1
        }
    }

    struct Code: Hashable, Sendable {
        var name: Int
        var file: Int
        /// nil: it has none (3.10 and older).
        var qualifiedName: Int?
        var firstLine: Int
        var table: Int
        var tableFormat: PythonLineTable.Format
        var start: Start
        /// Where the number is of the first instruction at which a frame counts as begun.
        var firstTraceable: Int?

        enum Start: Hashable, Sendable {
            /// In a bytes object to which a pointer leads.
            case object(Int)
            /// Here, within the code object; how many units of 2 bytes it has is where all such objects
            /// have their size.
            case inside(Int)
        }
    }

    struct Object: Hashable, Sendable {
        var type = 8
        var size = 16
        var bytes = 32
        /// Of a str: how many characters, and what kind they are.
        var length = 16
        var state = 32
        /// Where a str's characters are, if they are ASCII; others; where a pointer to them is.
        var ascii: Int
        var compact: Int
    }

    var runtime: Runtime
    var thread: Thread
    var frame: Frame
    var code: Code
    var object: Object
    /// How large types say that their objects are.
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
