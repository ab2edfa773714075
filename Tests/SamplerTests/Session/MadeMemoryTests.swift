import Architecture
import ProfileModel
import Testing

@testable import ProcessIO
@testable import Sampler

/// Reads of a made process's memory and files.
@Suite struct MadeMemoryTests {
    private let process = MadeProcess()
    private static let first = "00400000-00401000 r-xp 00000000 08:01 7 /made/first\n"
    private static let library = "7f0000000000-7f0000001000 r-xp 00001000 08:01 9 /made/library\n"

    @Test func codeIsSeenWhenItIsMapped() {
        var watch = MappingWatch(process.addressSpace())
        #expect(paths(&watch) == nil)
        process.map(Self.first)
        #expect(paths(&watch) == ["/made/first"])
        process.pass(1)
        #expect(paths(&watch) == nil)
        process.map(Self.first + Self.library)
        let isMissing = watch.lacksCode()
        #expect(isMissing)
        process.pass(1)
        #expect(paths(&watch) == ["/made/first", "/made/library"])
        let change = watch.lastChange
        #expect(change == process.now && paths(&watch) == nil)
    }

    @Test func mappingsOfAnEndedProcessStayKnown() {
        var watch = MappingWatch(process.addressSpace())
        process.map(Self.first + Self.library)
        _ = watch.changes(at: process.now)
        process.map("")
        process.pass(20)
        let (seen, read, known) = (paths(&watch), watch.refreshed(at: process.now), watch.code)
        #expect(seen == nil && read == nil && known.count == 2)
    }

    private func paths(_ watch: inout MappingWatch) -> [String]? {
        watch.changes(at: process.now)?.map(\.path)
    }

    @Test func memoryThatIsReadAndWritten() {
        process.put([1, 2, 3, 4, 5, 6, 7, 8], at: 0x1000)
        let memory = process.memory
        #expect(memory.read(at: 0x1006, count: 8) == [7, 8])
        #expect(memory.word(at: 0x1000) == 0x0807_0605_0403_0201 && memory.word(at: 0x1001) == nil)
        #expect(memory.write([UInt16(0x2211)], at: 0x1002) && !memory.write([UInt8(0)], at: 0x2000))
        #expect(memory.read(at: [0x1001, 0x2000], count: 2) == [2, 0x11, 0, 0])
    }

    /// Of a read: what a signal ends, the handler makes again, but for sockets and special files. Of a
    /// write: files alone.
    @Test(
        arguments: [
            ("pipe:[7]", true, false), ("/made/file", true, true), ("/dev/made", true, false),
            ("socket:[7]", false, false), ("anon_inode:inotify", false, false), (nil, false, false),
        ] as [(String?, Bool, Bool)])
    func callsThatGoOn(link: String?, reads: Bool, writes: Bool) {
        process.links[3] = link
        var registers = Registers()
        registers[5] = 3
        for (call, goesOn) in [(SystemCall.read, reads), (.write, writes)] {
            let kind = RestartingCalls.kind(of: call.rawValue, registers, process: process)
            #expect(kind == (goesOn ? .restartsAfterHandler : .fragile))
        }
    }
}
