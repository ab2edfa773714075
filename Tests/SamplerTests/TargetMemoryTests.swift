import Architecture
import Glibc
import ProfileModel
import Testing

@testable import Images
@testable import ProcessIO
@testable import Sampler

/// Our own memory is read as another's.
@Suite struct TargetMemoryTests {
    private let memory = TargetMemory(pid: getpid())

    /// More pieces than one call reads, some of them where nothing is: first, last, side by side.
    @Test func piecesThatCannotBeReadAreZeros() {
        let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 700)
        defer { words.deallocate() }
        for index in words.indices { words[index] = UInt64(index) + 1 }
        let start = UInt64(UInt(bitPattern: words.baseAddress))
        let missing: Set = [0, 5, 6, 255, 256, 257, 511, 699]
        let addresses = words.indices.map { missing.contains($0) ? 8 : start + 8 * UInt64($0) }
        let bytes = memory.read(at: addresses, count: 8)
        #expect(bytes.count == 8 * 700)
        for index in words.indices {
            let value = bytes.littleEndianWord(at: 8 * index)
            #expect(value == (missing.contains(index) ? 0 : UInt64(index) + 1), "\(index)")
        }
    }

    @Test func nothingIsAskedForNothing() {
        #expect(memory.read(at: [UInt64](), count: 8).isEmpty)
        #expect(memory.read(at: [8], count: 0).isEmpty)
        #expect(memory.read(at: [8], count: -1).isEmpty)
        #expect(memory.read(at: [8, 16], count: 3) == [UInt8](repeating: 0, count: 6))
    }

    /// Two pages, and nothing behind them.
    @Test func pagesThatWereReadAreNotReadAgain() throws {
        let size = Int(VirtualMemory.pageSize)
        let pages = try #require(
            mmap(nil, 3 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        defer { munmap(pages, 3 * size) }
        munmap(pages + 2 * size, size)
        memset(pages, 1, size)
        memset(pages + size, 2, size)
        let start = UInt64(UInt(bitPattern: pages))
        let kept = memory.readOnce()
        let edge = start + UInt64(size) - 2
        #expect(kept.read(at: edge, count: 4) == [1, 1, 2, 2])
        memset(pages, 3, 2 * size)
        #expect(kept.read(at: edge, count: 4) == [1, 1, 2, 2])
        #expect(memory.read(at: edge, count: 4) == [3, 3, 3, 3])
        #expect(memory.readOnce().read(at: edge, count: 4) == [3, 3, 3, 3])
        // Up to the end, and from there.
        #expect(kept.read(at: start + UInt64(2 * size) - 1, count: 8) == [2])
        #expect(kept.read(at: start + UInt64(2 * size), count: 8).isEmpty)
        #expect(kept.read(at: 8, count: 8).isEmpty && kept.read(at: .max - 3, count: 8).isEmpty)
        #expect(kept.read(at: start, count: 0).isEmpty)
        // Long ranges are read anew.
        #expect(kept.read(at: start, count: 3 * size) == [UInt8](repeating: 3, count: 2 * size))
    }

    /// The second has no zero within reach, the third cannot be read.
    @Test func severalTextsAreReadAtOnce() {
        let long = String(repeating: "n", count: 200)
        let texts = Array("libfirst.so\0\(long)\0end\0".utf8)
        let place = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: texts.count + 512)
        defer { place.deallocate() }
        place.initialize(repeating: 0)
        _ = place.update(fromContentsOf: texts)
        let start = UInt64(UInt(bitPattern: place.baseAddress))
        let addresses = [start, start + 12, 8, start + 12 + 201]
        #expect(memory.texts(at: addresses, limit: 256) == ["libfirst.so", long, "", "end"])
        #expect(memory.texts(at: addresses, limit: 3) == ["lib", "nnn", "", "end"])
        #expect(memory.texts(at: [], limit: 256).isEmpty)
    }

    @Test func aProcessThatIsNotThereHasZeros() {
        #expect(
            TargetMemory(pid: .max).read(at: [8, 16], count: 8)
                == [UInt8](repeating: 0, count: 16))
    }

    /// Pages: there, not there, there, not there. The last one that is there is not whole in the range.
    @Test func pagesThatAreNotThereAreNotTouched() throws {
        let size = Int(VirtualMemory.pageSize)
        let pages = try #require(
            mmap(nil, 4 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        defer { munmap(pages, 4 * size) }
        // Without huge pages, each comes alone.
        madvise(pages, 4 * size, MADV_NOHUGEPAGE)
        memset(pages, 1, size)
        memset(pages + 2 * size, 2, size)
        let start = UInt64(UInt(bitPattern: pages))
        let table = PageTable(pid: getpid())
        func presence() -> [Bool] {
            table.words(of: VirtualMemory.pages(of: start..<start + UInt64(4 * size)))
                .map(PageTable.isThere)
        }
        let before = presence()
        #expect(before == [true, false, true, false])
        let range = (start + 8)..<(start + UInt64(4 * size) - 8)
        let own = memory.read(range, before, .zeros)
        #expect(own.prefix(size - 8).allSatisfy { $0 == 1 })
        #expect(own.dropFirst(size - 8).prefix(size).allSatisfy { $0 == 0 })
        #expect(own.dropFirst(2 * size - 8) == ArraySlice([UInt8](repeating: 2, count: size)))
        #expect(memory.read(range, before, .unknown) == [UInt8](repeating: 1, count: size - 8))
        #expect(memory.read(range, [false, false, false, false], .zeros).isEmpty)
        #expect(presence() == before)
    }

    /// Memory that cannot be read ends the copy, whatever the table of pages showed a moment ago.
    @Test func aPageThatHasGoneEndsTheCopy() {
        let page = VirtualMemory.pageSize
        #expect(memory.read(page..<3 * page, [true, true], .zeros).isEmpty)
    }
}
