import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct MapsTests {
    private static let lines = ProcFormats.maps(text(ProcSamples.maps))

    private static func line(_ start: UInt64) -> ProcFormats.MapsLine? {
        lines.first { $0.start == start }
    }

    @Test func everyLineIsThere() {
        #expect(Self.lines.count == 10)
        #expect(zip(Self.lines, Self.lines.dropFirst()).allSatisfy { $0.end <= $1.start })
    }

    @Test func aFilesCode() {
        #expect(
            Self.line(0x557B_0807_E000)
                == ProcFormats.MapsLine(
                    start: 0x557B_0807_E000, end: 0x557B_0808_3000, isReadable: true,
                    isExecutable: true, fileOffset: 0x2000, inode: 253911, path: "/usr/bin/cat"))
    }

    @Test func protection() {
        #expect(Self.line(0x557B_0807_C000)?.isExecutable == false)
        #expect(Self.line(0x7FCE_1C30_2000)?.isReadable == false)
        #expect(Self.line(0x7FCE_1C30_2000)?.isExecutable == true)
    }

    @Test func paths() {
        #expect(Self.line(0x7FCE_1C27_5000)?.path == "")
        #expect(Self.line(0x7FCE_1C30_0000)?.path == "/tmp/my  lib (1).so")
        #expect(Self.line(0x7FCE_1C30_1000)?.path == "/tmp/a\\012b.so")
        #expect(Self.line(0x7FCE_1C30_2000)?.path == "/tmp/gone.so (deleted)")
        #expect(Self.line(0x7FCE_1C4E_D000)?.path == "[vdso]")
    }

    @Test func theLastLineNeedsNoEnd() {
        let lines = ProcFormats.maps(
            text("1000-2000 r-xp 00000000 00:00 5 /a\n2000-3000 r--p 0 0:0 6 /b"))
        #expect(lines.map(\.path) == ["/a", "/b"])
    }

    @Test func malformedLinesAreLeftOut() {
        let lines = ProcFormats.maps(
            text(
                """
                garbage
                2000-1000 r-xp 00000000 00:00 0 /backwards
                1000-1000 r-xp 00000000 00:00 0 /empty

                3000-4000 r-xp 00000000 00:00 7 /good
                """))
        #expect(lines.map(\.path) == ["/good"])
    }

    /// Overlay file systems (xino) use the upper bits of inode numbers, all 64 of them.
    @Test(arguments: ["9223372036854775807", "18446744073709551615"])
    func largeInodeNumbers(inode: String) {
        let lines = ProcFormats.maps(text("1000-2000 r-xp 00000000 00:2d \(inode) /a\n"))
        #expect(lines.map(\.inode) == [UInt64(inode)])
    }

    /// Just past 63 bits, in a process of its own: it must not take the recorder down.
    @Test func anInodeNumberPastTheSignedRangeIsNoTrap() async {
        await #expect(processExitsWith: .success) {
            let lines = ProcFormats.maps(
                text("1000-2000 r-xp 00000000 00:2d 9999999999999999999 /a\n"))
            #expect(lines.count <= 1)
        }
    }
}
