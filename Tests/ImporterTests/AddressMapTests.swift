import PerfData
import ProfileModel
import TestSupport
import Testing

@testable import Importer

struct AddressMapTests {
    private func mapping(
        _ range: Range<UInt64>, offset: UInt64 = 0, _ path: String = "/bin/a", isCode: Bool = true
    ) -> PerfMapping {
        PerfMapping(
            pid: 1, start: range.lowerBound, end: range.upperBound, fileOffset: offset, path: path,
            isExecutable: isCode)
    }

    private func text(_ map: AddressMap) -> [String] {
        map.code.map { "\($0.start)-\($0.end) @\($0.fileOffset) \($0.path)" }
    }

    @Test func `a later mapping takes an earlier one's place`() {
        var map = AddressMap()
        map.add(mapping(100..<200, offset: 1000), buildID: [])
        map.add(mapping(120..<150, "/lib/b"), buildID: [])
        #expect(
            text(map) == ["100-120 @1000 /bin/a", "120-150 @0 /lib/b", "150-200 @1050 /bin/a"])
        // Data, too.
        map.add(mapping(110..<160, isCode: false), buildID: [])
        #expect(text(map) == ["100-110 @1000 /bin/a", "160-200 @1060 /bin/a"])
        #expect(map.program == "/bin/a")
        map.clear()
        #expect(map.code.isEmpty)
        #expect(map.program == nil)
    }

    @Test func `data beside the code change nothing`() {
        var map = AddressMap()
        map.add(mapping(100..<200), buildID: [])
        let version = map.version
        map.add(mapping(200..<300, isCode: false), buildID: [])
        #expect(map.version == version)
        map.add(mapping(300..<300), buildID: [])
        #expect(map.version == version)
    }

    @Test func `what is no file has no path`() {
        var map = AddressMap()
        for (index, path) in ["//anon", "[heap]", "[vdso]", "anon_inode:x"].enumerated() {
            map.add(mapping(UInt64(index * 10)..<UInt64(index * 10 + 5), path), buildID: [])
        }
        #expect(map.code.map(\.path) == ["", "", "[vdso]", ""])
    }

    @Test func `is what a map of bytes says`() {
        var numbers = SeededNumbers(seed: 9)
        for _ in 0..<200 {
            var map = AddressMap()
            var bytes = [Int?](repeating: nil, count: 64)
            for round in 0..<12 {
                let start = UInt64.random(in: 0..<60, using: &numbers)
                let end = UInt64.random(in: start + 1...64, using: &numbers)
                let isCode = Bool.random(using: &numbers)
                map.add(
                    mapping(start..<end, offset: start, "/\(round)", isCode: isCode), buildID: [])
                for place in start..<end { bytes[Int(place)] = isCode ? round : nil }
            }
            var found = [Int?](repeating: nil, count: 64)
            var last: UInt64 = 0
            for code in map.code {
                #expect(code.start >= last && code.start < code.end)
                #expect(code.fileOffset == code.start)
                last = code.end
                for place in code.start..<code.end {
                    found[Int(place)] = Int(code.path.dropFirst())
                }
            }
            #expect(found == bytes)
        }
    }
}
