import Analysis
import ProfileModel

/// Samples in the format of `perf script`, which stackcollapse-perf.pl, hotspot, speedscope and the
/// Firefox Profiler read. The period is time in nanoseconds. A profile has no addresses; they are
/// written as 0.
struct PerfScriptExport {
    private let profile: Profile
    private let options: ExportOptions

    init(_ profile: Profile, _ options: ExportOptions) {
        self.profile = profile
        self.options = options
    }

    func render() -> String {
        let threads = profile.threads.map { thread in
            "\(Self.word(thread.name, or: "thread")) \(profile.header.pid)/\(thread.tid)"
        }
        let event = options.weight == .cpu ? "cpu-clock" : "\(options.weight.rawValue)-clock"
        var stacks: [Int: String] = [:]
        var lines: [FrameID: String] = [:]
        var text = ""
        for stretch in profile.stretches(in: options.selection) {
            for charge in stretch.charges(by: options.weight) {
                text += "\(threads[stretch.thread]) \(Self.seconds(stretch.start)): "
                text += "\(charge.time.nanoseconds) \(event): \n"
                if let known = stacks[charge.stack] {
                    text += known
                } else {
                    let frames = frames(charge.stack, &lines)
                    stacks[charge.stack] = frames
                    text += frames
                }
            }
        }
        return text
    }

    /// Innermost first, followed by the empty line that ends a stack.
    ///
    /// - Parameter lines: the lines of frames that occurred before.
    private func frames(_ stack: Int, _ lines: inout [FrameID: String]) -> String {
        var text = ""
        for id in profile.frames(ofStack: stack).reversed() {
            let line = lines[id] ?? line(of: id)
            lines[id] = line
            text += line
        }
        return text + "\n"
    }

    private func line(of id: FrameID) -> String {
        let frame = profile.frames[id]
        let function = profile.frames[frame.function]
        let module = frame.isInlined ? "inlined" : Self.module(function.module)
        return "\t               0 \(Self.line(function.name)) (\(module))\n"
    }

    private static func seconds(_ time: TimeSpan) -> String {
        let fraction = String(time.nanoseconds % 1_000_000_000)
        let zeros = String(repeating: "0", count: max(0, 9 - fraction.utf8.count))
        return "\(time.nanoseconds / 1_000_000_000).\(zeros)\(fraction)"
    }

    /// Spaces, brackets and line breaks separate the parts of a line.
    private static func line(_ name: String) -> String {
        let text = name.escapedForDisplay
        return text.isEmpty ? Function.unknownModule : text
    }

    private static func module(_ name: String) -> String {
        String(line(name).map { $0 == "(" || $0 == ")" || $0 == " " ? "_" : $0 })
    }

    private static func word(_ name: String, or other: String) -> String {
        let text = line(name).map { $0 == " " || $0 == "/" ? "_" : $0 }
        return name.isEmpty ? other : String(text)
    }
}
