import ProcessIO

/// The program that a process runs, as far as `/proc/PID/stat` tells programs apart.
package struct ProcessImage: Hashable, Sendable {
    /// The command's name. Bytes, since it may be anything.
    package var command: [UInt8]
    package var state: UInt8
    /// The kernel's `PF_…` bits (sched.h).
    package var flags: Int64
    /// When the process was started, in clock ticks since boot.
    package var startTime: UInt64
    /// Where its code and its stack begin. Both are random, so they differ after each execve. 1 and
    /// 0 if we may not see them.
    package var codeStart: UInt64
    package var stackStart: UInt64

    /// True if the process has executed a program since it was forked (`PF_FORKNOEXEC` is not set).
    /// If not, it still runs its parent's program. Always false for threads other than the first.
    package var hasExecuted: Bool { flags & 0x40 == 0 }
    package var isKernelThread: Bool { flags & 0x0020_0000 != 0 }
    private var isDead: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }

    /// True if there is a program to look at.
    package var isProgram: Bool { hasExecuted && !isKernelThread && !isDead }

    /// Stays the same until another program is executed. The name counts only if we may not see
    /// addresses: a process may rename itself.
    package var identity: Identity {
        Identity(
            startTime: startTime, hasExecuted: hasExecuted, codeStart: codeStart,
            stackStart: stackStart, command: stackStart == 0 ? command : [])
    }

    package struct Identity: Hashable, Sendable {
        package var startTime: UInt64
        package var hasExecuted: Bool
        package var codeStart: UInt64
        package var stackStart: UInt64
        package var command: [UInt8]
    }
}

extension ProcessImage {
    /// From `/proc/PID/stat`; nil if the bytes are something else.
    package init?(_ bytes: [UInt8]) {
        // The name is in brackets and may itself contain any character.
        guard let open = bytes.firstIndex(of: UInt8(ascii: "(")),
            let close = bytes.lastIndex(of: UInt8(ascii: ")")), open < close
        else { return nil }
        var text = ProcText(Array(bytes[(close + 1)...]))
        text.skipSpaces()
        guard let state = text.peek() else { return nil }
        text.skipWords(6)  // state … tpgid
        guard let flags = text.decimal() else { return nil }
        text.skipWords(12)  // minflt … itrealvalue
        guard let startTime = text.unsigned() else { return nil }
        text.skipWords(3)  // vsize rss rsslim
        guard let codeStart = text.unsigned() else { return nil }
        text.skipWords(1)  // endcode
        guard let stackStart = text.unsigned() else { return nil }
        self.init(
            command: Array(bytes[(open + 1)..<close]), state: state, flags: flags,
            startTime: startTime, codeStart: codeStart, stackStart: stackStart)
    }
}
