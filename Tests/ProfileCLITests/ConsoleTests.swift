import Glibc
import ProfileCLI
import Sampler
import Testing

@testable import Launching

@Suite struct ConsoleTests {
    /// SIGPIPE would end the tests, too.
    @Test func aClosedPipeIsAnErrorNotASignal() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let console = Console(output: ends[1], error: ends[1])
        let error = #expect(throws: Console.Failure.self) { try console.write("x") }
        #expect(error?.isClosedPipe == true)
        console.complain("nobody hears this")
    }

    @Test func aClosedPipeEndsAReportQuietly() throws {
        var ends: [Int32] = [0, 0]
        var errors: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0 && pipe(&errors) == 0)
        close(ends[0])
        let help = [CommandWord("--help")]
        #expect(CommandLineInterface.run(help, Console(output: ends[1], error: errors[1])) == 141)
        close(ends[1])
        close(errors[1])
        var byte: UInt8 = 0
        #expect(read(errors[0], &byte, 1) == 0)
        close(errors[0])
    }

    @Test func aFullDiskIsReported() throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        defer { close(full) }
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        #expect(
            CommandLineInterface.run(
                [CommandWord("--version")], Console(output: full, error: ends[1])) == 1)
        close(ends[1])
        var buffer = [UInt8](repeating: 0, count: 200)
        let count = read(ends[0], &buffer, buffer.count)
        close(ends[0])
        #expect(
            String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
                == "firstlight: cannot write to standard output: No space left on device\n")
    }

    /// More than a pipe holds, into one that does not block.
    @Test func everythingIsWritten() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        let text = String(repeating: "0123456789", count: 50_000)
        var reader = pthread_t()
        var total = 0
        try withUnsafeMutablePointer(to: &total) { total in
            var work = (ends[0], total)
            try withUnsafeMutablePointer(to: &work) { work in
                #expect(pthread_create(&reader, nil, drain, work) == 0)
                try Console(output: ends[1]).write(text)
                close(ends[1])
                pthread_join(reader, nil)
            }
        }
        close(ends[0])
        #expect(total == text.utf8.count)
    }

    @Test func messagesAreOneLine() {
        #expect(Console.oneLine("a\nb\u{1B}[31m\u{202E}ü✓") == "a\\u{a}b\\u{1b}[31m\\u{202e}ü✓")
    }

    @Test(
        arguments: [
            (true, 120, [:], 120, true),
            (false, nil, [:], 100, false),
            (true, nil, ["NO_COLOR": ""], 100, true),
            (true, 80, ["NO_COLOR": "1"], 80, false),
            (true, 80, ["TERM": "dumb"], 80, false),
            (true, 80, ["COLUMNS": "60"], 60, true),
            (false, nil, ["COLUMNS": "60"], 60, false),
            (true, 80, ["COLUMNS": "0"], 80, true),
            (true, 80, ["COLUMNS": "wide"], 80, true),
            (true, 80, ["COLUMNS": "99999999"], 1_000, true),
        ] as [(Bool, Int?, [String: String], Int, Bool)])
    func terminals(
        isTerminal: Bool, columns: Int?, environment: [String: String], width: Int, colour: Bool
    ) {
        let terminal = Terminal(
            isTerminal: isTerminal, columns: columns, environment: { environment[$0] })
        #expect(terminal.width == width)
        #expect(terminal.usesColour == colour)
    }
}

/// Reads until the end; the argument is (descriptor, where the count goes).
private func drain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard
        let work = argument?.assumingMemoryBound(
            to: (Int32, UnsafeMutablePointer<Int>).self)
    else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
        let count = read(work.pointee.0, &buffer, buffer.count)
        guard count > 0 else { return nil }
        work.pointee.1.pointee += count
    }
}
