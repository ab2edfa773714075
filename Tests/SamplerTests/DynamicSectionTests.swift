import Glibc
import ProcessIO
import Testing

@testable import Images

/// Our own memory is read as another's.
@Suite struct DynamicSectionTests {
    /// Sections end with a tag of 0; some are longer than one read.
    @Test(arguments: [0, 1, 63, 64, 65, 200, 512, 600])
    func allEntriesAreRead(count: Int) {
        let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 2 * 700)
        defer { words.deallocate() }
        words.initialize(repeating: 0)
        for index in 0..<count {
            words[2 * index] = UInt64(index) + 1000
            words[2 * index + 1] = UInt64(index) + 5
        }
        let start = UInt64(UInt(bitPattern: words.baseAddress))
        let section = DynamicSection(
            at: start, bias: 0, memory: TargetMemory(pid: getpid()))
        // A section with more entries is not a library's.
        let last = min(count, 512)
        for index in 0..<last {
            let found = section.value(UInt64(index) + 1000)
            #expect(found?.value == UInt64(index) + 5)
            #expect(found?.address == start + 16 * UInt64(index) + 8)
        }
        #expect(section.value(UInt64(last) + 1000) == nil)
        #expect(section.value(0) == nil)
    }
}
