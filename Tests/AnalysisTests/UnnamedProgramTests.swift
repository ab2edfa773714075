import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Programs whose files are stripped.
struct UnnamedProgramTests {
    private typealias Spot = RecordingBuilder.Spot

    private static let program = "/usr/bin/git"

    /// 10 ms in each of `stacks`, below the program's entry; `elsewhere` ms in a library alone.
    private func profile(
        _ stacks: [[Spot]], entry: Spot = Spot(nil, program), elsewhere: Int64 = 0
    ) -> Profile {
        var builder = RecordingBuilder(images: [(Self.program, 0)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.main, 2)
        builder.border(.ended, 1000)
        let main = builder.thread("git", tid: 7, to: 1000, isMain: true)
        for (index, stack) in stacks.enumerated() {
            builder.slice(
                main, at: 10 + 10 * Int64(index), running: 10, builder.stack([entry] + stack))
        }
        if elsewhere > 0 {
            let linking = builder.stack([Spot("_dl_start", "/usr/lib/ld.so")])
            builder.slice(main, at: 700, running: elsewhere, linking)
        }
        return Profile(builder.recording)
    }

    @Test func calledFunctionsTellTheProgramsWork() throws {
        let (own, libc) = (Spot(nil, Self.program), "/usr/lib/libc.so.6")
        let found = try #require(
            profile([
                [own], [own, Spot("fstatat", libc), Spot("vfs_statx", "[kernel]")],
                [own, own, Spot("fstatat", libc)], [Spot("qsort", libc), own],
                [own, Spot("qsort", libc), Spot("msort", libc)],
                [own, Spot(nil, "/usr/lib/libz.so")],
            ]).unnamedProgram)
        // A comparison that the library calls back is the program's own work.
        #expect(found.own == .milliseconds(20))
        #expect(
            found.calls == [
                .init(name: "fstatat", time: .milliseconds(20)),
                .init(name: "libz.so", time: .milliseconds(10)),
                .init(name: "qsort", time: .milliseconds(10)),
            ])
    }

    /// Then that call is what the program does.
    @Test func whereOneCallHasHalfNamesAddLittle() {
        let own = Spot(nil, Self.program)
        let step = [own, Spot("sqlite3_step", "/usr/lib/libsqlite3.so")]
        #expect(profile([[own], [own], step]).unnamedProgram != nil)
        #expect(profile([[own], step]).unnamedProgram == nil)
    }

    @Test func withNamesItIsNone() {
        #expect(profile([[Spot(nil, Self.program)]]).unnamedProgram != nil)
        #expect(profile([[]], entry: Spot("cmd_status", Self.program)).unnamedProgram == nil)
    }

    @Test func itHasMostOfTheLaunch() {
        let own = [Spot(nil, Self.program)]
        #expect(profile([own], elsewhere: 10).unnamedProgram != nil)
        #expect(profile([own], elsewhere: 11).unnamedProgram == nil)
    }
}
