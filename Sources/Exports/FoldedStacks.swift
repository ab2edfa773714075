package import Analysis
package import ProfileModel

/// Stacks in the format of flamegraph.pl and similar tools. Each line is
/// `phase;thread;outer;…;inner COUNT`, with COUNT in whole microseconds. If there are several
/// processes, each line begins with the process. Functions of scripts are written as in py-spy:
/// `function (script.py:12)`.
package enum FoldedStacks {
    package struct Options: Sendable {
        package var selection = Selection.all
        /// With `wall` and `blocked`, the last frame of blocked time names the reason of the wait.
        package var weight = Weight.cpu
        package var showsPhase = true
        package var showsThread = true

        package init() {}
    }

    /// Lines sorted by their text, each ended by a line break.
    ///
    /// The counts add up to the selection's weight, rounded once: each line ends where the rounded
    /// sum so far ends. Lines that would get a count of 0 are left out.
    package static func render(_ profile: Profile, options: Options = Options()) -> String {
        var result = ""
        var sum = TimeSpan.zero
        var written: Int64 = 0
        for (stack, weight) in merged(lines(profile, options)) {
            sum = sum + weight
            let count = microseconds(sum) &- written
            guard count > 0 else { continue }
            written = microseconds(sum)
            result += "\(stack) \(count)\n"
        }
        return result
    }

    private typealias Line = (stack: String, weight: TimeSpan)

    private static func lines(_ profile: Profile, _ options: Options) -> [Line] {
        let phases = profile.phases.map { element($0.name) }
        let threads = profile.threads.map { element($0.name + "/\($0.tid)") }
        let processes = profile.processes.map { element($0.label + "/\($0.pid)") }
        let hasProcesses = profile.processes.count > 1
        let frames = profile.frames.frames.map { frame in
            element(profile.frames[frame.function], line: frame.line)
                + (frame.isInlined ? "_[i]" : "")
        }
        let stacks = profile.weighedStacks(
            options.selection, weight: options.weight, byPhase: options.showsPhase,
            byThread: options.showsThread || hasProcesses)
        return stacks.map { stack in
            var text = ""
            func append(_ element: String) {
                if !text.isEmpty { text += ";" }
                text += element
            }
            if hasProcesses, let thread = stack.thread {
                append(processes[profile.process(ofThread: thread)])
            }
            if let phase = stack.phase { append(phases[phase]) }
            if options.showsThread, let thread = stack.thread { append(threads[thread]) }
            for id in stack.frames { append(frames[Int(id.rawValue)]) }
            return (text, stack.weight)
        }
    }

    /// Sorted; lines with the same text (functions with the same name in two modules) become one.
    private static func merged(_ lines: [Line]) -> [Line] {
        var result: [Line] = []
        for line in lines.sorted(by: { $0.stack < $1.stack }) {
            if let last = result.last, last.stack == line.stack {
                result[result.count - 1].weight = last.weight + line.weight
            } else {
                result.append(line)
            }
        }
        return result
    }

    /// Rounded to the nearest.
    package static func microseconds(_ span: TimeSpan) -> Int64 {
        (span.nanoseconds &+ 500) / 1000
    }

    /// Kernel and just-in-time compiled functions are marked as stackcollapse-perf.pl does, so that
    /// flamegraph.pl can colour them.
    ///
    /// - Parameter line: the line in its script; nil: unknown, or irrelevant.
    package static func element(_ function: Function, line: Int32? = nil) -> String {
        if function.isKernel { return element(function.name) + "_[k]" }
        guard let place = function.scriptPlace(line: line) else { return element(function.name) }
        return element("\(function.name) (\(place))")
            + (function.language == .javaScript ? "_[j]" : "")
    }

    /// A name without semicolons, line breaks and other white space, which are replaced; other
    /// characters that affect a terminal are escaped.
    package static func element(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            if scalar == ";" {
                result.append(":")
            } else {
                result.append(scalar.properties.isWhitespace ? " " : scalar)
            }
        }
        let text = String(result).escapedForDisplay
        return text.allSatisfy { $0 == " " } ? Function.unknownModule : text
    }
}
