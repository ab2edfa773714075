/// Folded stacks, read as by a flame-graph tool, without our own code.
package struct Folded {
    package struct Line: Hashable {
        package var frames: [String]
        package var count: Int64

        /// The functions without their scripts and lines.
        package var functions: [String] {
            frames.map { frame in
                frame.firstRange(of: " (").map { String(frame[..<$0.lowerBound]) } ?? frame
            }
        }
    }

    package struct Malformed: Error {
        package var line: String
    }

    package var lines: [Line] = []

    /// Every line must be `^(.+) (\d+)$`, and the last one must have its end.
    package init(parsing text: String) throws {
        guard text.isEmpty || text.hasSuffix("\n") else { throw Malformed(line: "no line end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            guard let space = line.lastIndex(of: " "), space > line.startIndex else {
                throw Malformed(line: String(line))
            }
            let digits = line[line.index(after: space)...]
            guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                let count = Int64(digits)
            else { throw Malformed(line: String(line)) }
            let stack = line[..<space]
            let frames = stack.split(separator: ";", omittingEmptySubsequences: false)
            lines.append(Line(frames: frames.map(String.init), count: count))
        }
    }

    package var total: Int64 { lines.reduce(0) { $0 + $1.count } }

    /// In nanoseconds: all stacks with a frame that begins with each of `names`, as in
    /// `Class::method` for `Class::method(int)`, or `function` for `function (script.py:12)`.
    package func nanoseconds(through names: String...) -> Int64 {
        lines.filter { line in
            names.allSatisfy { name in
                line.frames.contains { frame in
                    [name + "(", name + " ("].contains { frame.hasPrefix($0) } || frame == name
                }
            }
        }.reduce(0) { $0 + $1.count * 1000 }
    }
}
