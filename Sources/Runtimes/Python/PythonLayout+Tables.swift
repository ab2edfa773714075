import ProfileModel

/// Layouts from the headers of each minor release: all values for 3.8 to 3.12. For later releases,
/// the values that their processes do not describe.
extension PythonLayout {
    /// nil: the release is unknown here.
    static func of(minor: Int) -> PythonLayout? {
        switch minor {
        case 8, 9: eight
        case 10: ten
        case 11: eleven
        case 12: twelve
        case 13: thirteen
        case 14: fourteen
        default: nil
        }
    }

    /// 3.8 and 3.9. Frames are objects, at any place.
    private static var eight: PythonLayout {
        PythonLayout(
            runtime: Runtime(interpreters: 32, mainThread: 72, nextInterpreter: 0, threads: 8),
            thread: Thread(next: 8, interpreter: 16, pthread: 176),
            frame: Frame(
                grouping: .single(generator: 96), instruction: .index(104, unit: 1),
                tracedLine: .ifPointer(line: 108, trace: 80), globals: 48, firstLocal: 360),
            code: Code(
                name: 112, file: 104, firstLine: 40, table: 120, tableFormat: .deltas,
                start: .object(48)),
            object: Object(ascii: 48, compact: 72), codeSize: 176, frameSize: 368,
            frames: FrameListLayout(
                newest: 24, threadID: 176, caller: 24, code: 32,
                record: [.init(24, 96), .init(360, 8)], identity: .init(104, 24)))
    }

    private static var ten: PythonLayout {
        var layout = eight
        layout.frame = Frame(
            grouping: .single(generator: 88), instruction: .index(96, unit: 2),
            tracedLine: .ifSet(line: 100),
            globals: 48, firstLocal: 352)
        layout.code.tableFormat = .ranges
        layout.frameSize = 360
        layout.frames.record = [.init(24, 88), .init(352, 8)]
        return layout
    }

    /// Frames are in an arena, in generators, or (later) in native frames.
    private static var eleven: PythonLayout {
        var layout = PythonLayout(
            runtime: Runtime(interpreters: 40, mainThread: 80, nextInterpreter: 0, threads: 16),
            thread: Thread(next: 8, interpreter: 16, pthread: 152),
            frame: Frame(
                grouping: .mark(68), instruction: .address(56), tracedLine: .never, owner: 69,
                globals: 8, firstLocal: 72),
            code: Code(
                name: 120, file: 112, qualifiedName: 128, firstLine: 72, table: 136,
                tableFormat: .locations, start: .inside(184), firstTraceable: 168),
            object: Object(ascii: 48, compact: 72), codeSize: 184,
            frames: FrameListLayout(
                newest: 56, newestInside: 8, threadID: 160, caller: 48, code: 32,
                record: [.init(0, 80)], identity: .init(112, 32)))
        layout.frames.arena = (296, 304)
        return layout
    }

    private static var twelve: PythonLayout {
        var layout = eleven
        layout.runtime = Runtime(interpreters: 40, mainThread: 64, nextInterpreter: 0, threads: 72)
        layout.thread.pthread = 136
        layout.frame.grouping = .shim(leastOwner: 3)
        (layout.frame.owner, layout.frame.globals) = (70, 24)
        (layout.code.firstLine, layout.code.start) = (68, .inside(192))
        (layout.code.firstTraceable, layout.codeSize) = (176, 192)
        layout.object = Object(ascii: 40, compact: 56)
        layout.frames = FrameListLayout(
            newest: 56, newestInside: 0, threadID: 144, caller: 8, code: 0,
            record: [.init(0, 80)], identity: .init(112, 32))
        layout.frames.arena = (232, 240)
        return layout
    }

    private static var thirteen: PythonLayout {
        var layout = twelve
        layout.runtime = Runtime(
            interpreters: 632, mainThread: 656, nextInterpreter: 7264, threads: 7344)
        layout.thread.pthread = 152
        (layout.code.start, layout.codeSize) = (.inside(200), 200)
        layout.code.firstTraceable = 184
        layout.frames.newest = 72
        layout.frames.newestInside = nil
        layout.frames.threadID = 160
        return layout
    }

    private static var fourteen: PythonLayout {
        var layout = thirteen
        layout.runtime = Runtime(
            interpreters: 808, mainThread: 832, nextInterpreter: 7272, threads: 7344)
        (layout.frame.owner, layout.frame.firstLocal) = (74, 80)
        (layout.code.start, layout.codeSize) = (.inside(208), 208)
        layout.code.firstTraceable = 192
        // Pointers to objects use two bits as marks.
        layout.frames.codeMask = ~3
        layout.frames.record = [.init(0, 88)]
        return layout
    }

    /// The bits of a frame's pointer that are an address.
    var localMask: UInt64 { frames.codeMask }
}
