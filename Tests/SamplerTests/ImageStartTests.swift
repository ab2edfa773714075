import Architecture
import CAgent
import Glibc
import Images
import ProcessIO
import Testing

@testable import Agent
@testable import Sampler

/// Our own process, as if it were at its first instruction.
@Suite struct ImageStartTests {
    private static func isFree(_ range: Range<UInt64>, in start: ImageStart) -> Bool {
        !start.mappings.contains { ($0.start..<$0.end).overlaps(range) }
    }

    @Test func ourselves() throws {
        let start = ImageStart(of: KernelProcess(pid: getpid()))
        #expect(!start.isStatic && start.linker != nil)
        let program = try #require(start.program)
        #expect(program.contains(start.vector.entry) && !program.contains(start.vector.linkerBase))
        #expect(start.linkerImage?.contains(start.vector.linkerBase) == true)
    }

    @Test(arguments: [
        4096, 1 << 17, AgentMemory.size(stackBytes: 65536), AgentMemory.size(stackBytes: 1 << 20),
    ])
    func placesAreFreeAndInReach(size: Int) throws {
        let start = ImageStart(of: KernelProcess(pid: getpid()))
        let place = try #require(start.place(size: size))
        let area = place..<(place + UInt64(size))
        #expect(place % 4096 == 0 && Self.isFree(area, in: start))
        // By a jump of the linker's.
        let hook = try #require(start.linker?.debugState)
        for target in [AgentCode.debugState, UInt64(FL_STATE)] {
            #expect(JumpPatch.word(from: hook, to: place + target) != nil)
        }
        let island = try #require(start.islandPlace(besides: area))
        let islandRange = island..<(island + UInt64(TrampolineSpace.size))
        #expect(Self.isFree(islandRange, in: start) && !islandRange.overlaps(area))
        #expect(JumpPatch.word(from: start.vector.entry, to: island) != nil)
        // Where the area would be, if it were near the program, the island is not.
        let other = try #require(start.islandPlace(besides: islandRange))
        #expect(!islandRange.overlaps(other..<(other + UInt64(TrampolineSpace.size))))
    }

    @Test func cavesHoldNoCode() throws {
        let start = ImageStart(of: KernelProcess(pid: getpid()))
        let cave = try #require(start.anyCave)
        let end = cave + UInt64(AgentCode.pieceSize)
        let line = start.mappings.first { $0.start <= cave && end <= $0.end }
        #expect(line?.isExecutable == true && line?.path.hasPrefix("/") == true)
        for image in [start.program, start.linkerImage].compactMap({ $0 }) {
            for address in [cave, end - 1] { #expect(!image.isExecutable(address)) }
        }
    }

    /// Through the word in which the program has the C library's start function.
    @Test func howMainIsNoted() throws {
        let start = ImageStart(of: KernelProcess(pid: getpid()))
        var contents = AgentMemory.Contents(place: 0, recorder: 0, cookie: 1)
        start.fillMain(into: &contents)
        #expect(contents.main == 0 && contents.patches.isEmpty)
        let function = try #require(dlsym(nil, "__libc_start_main"))
        #expect(
            start.program?.memory.word(at: contents.startPointer)
                == UInt64(UInt(bitPattern: function)))
        #expect(contents.startIsProtected == start.program?.isProtected(contents.startPointer))
        // Where the linker reports nothing, the slot is not replaced.
        #expect(!start.notesMain(contents))
        contents.debug = 1
        #expect(start.notesMain(contents))
    }

    @Test func aProcessThatIsGone() {
        let start = ImageStart(of: KernelProcess(pid: .max))
        #expect(start.program == nil && start.linker == nil && start.mappings.isEmpty)
        #expect(start.isStatic && start.cave == nil && start.anyCave == nil)
        #expect(start.startCode == nil)
        var contents = AgentMemory.Contents(place: 4096, recorder: 0, cookie: 1)
        start.fillMain(into: &contents)
        #expect(!start.notesMain(contents) && contents.patches.isEmpty)
        #expect(start.islandPlace(besides: 0..<4096) == nil)
        _ = start.place(size: 1 << 20)
    }

    @Test func preparing() { ImageStart.prepare() }
}
