import Foundation
import Shipping
import TestSupport
import Testing

@Suite struct DiskQueueTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func queue(mostBytes: Int = 1000) throws -> DiskQueue {
        try DiskQueue(folder: scratch.path("a/b/queue"), mostBytes: mostBytes)
    }

    private func contents(_ queue: DiskQueue) -> [String] {
        queue.entries.map {
            String(decoding: (try? queue.contents(of: $0)) ?? [], as: UTF8.self)
        }
    }

    @Test func storedMessagesKeepTheirOrder() throws {
        for number in 1...20 { try queue().append(Array("\(number)".utf8)) }
        #expect(try contents(queue()) == (1...20).map(String.init))
        let queue = try queue()
        queue.remove(queue.entries[0])
        try queue.append(Array("21".utf8))
        #expect(contents(queue) == (2...21).map(String.init))
        #expect(queue.takeDropped() == 0)
    }

    @Test func theOldestAreDroppedAndCounted() throws {
        let queue = try queue(mostBytes: 100)
        for number in 1...9 { try queue.append(Array(repeating: UInt8(number), count: 30)) }
        #expect(queue.entries.compactMap { try? queue.contents(of: $0).first } == [7, 8, 9])
        // However many processes there were.
        #expect(try DiskQueue(folder: scratch.path("a/b/queue")).takeDropped() == 6)
        #expect(queue.takeDropped() == 0)
        // One that is larger than all of it stays alone.
        try queue.append(Array(repeating: 1, count: 500))
        #expect(queue.entries.map(\.size) == [500] && queue.takeDropped() == 3)
    }

    /// Half written ones of a killed process, and what others have put there.
    @Test func otherFilesAreLeftAlone() throws {
        let queue = try queue()
        try queue.append([1])
        let names = [
            ".77.new", "readme", "x.queued.tmp", "old.queued", "7.queued", "-00000000007.queued",
            "18446744073709551615.queued",
        ]
        for name in names {
            try "text".write(
                toFile: scratch.path("a/b/queue/\(name)"), atomically: true, encoding: .utf8)
        }
        try FileManager.default.createDirectory(
            atPath: scratch.path("a/b/queue/0.queued"), withIntermediateDirectories: true)
        #expect(queue.entries.count == 1)
        try queue.append([2])
        #expect(queue.entries.map { try? queue.contents(of: $0) } == [[1], [2]])
    }

    @Test func numbersEnd() throws {
        let queue = try queue()
        try "text".write(
            toFile: scratch.path("a/b/queue/999999999999.queued"), atomically: true, encoding: .utf8
        )
        #expect(throws: QueueError.self) { try queue.append([1]) }
        try "\(Int.max)".write(
            toFile: scratch.path("a/b/queue/dropped"), atomically: true, encoding: .utf8)
        #expect(queue.takeDropped() > 0)
    }

    @Test func itsOwnerAloneMayRead() throws {
        try queue().append([1])
        let folder = try FileManager.default.attributesOfItem(atPath: scratch.path("a/b/queue"))
        #expect(folder[.posixPermissions] as? Int == 0o700)
    }

    @Test func aFileInThePlaceOfTheFolder() throws {
        try "text".write(toFile: scratch.path("file"), atomically: true, encoding: .utf8)
        #expect(throws: QueueError.self) { try DiskQueue(folder: scratch.path("file/queue")) }
        #expect(throws: QueueError.self) { try DiskQueue(folder: scratch.path("file")) }
    }

    @Test func manyAtOnce() async throws {
        let folder = scratch.path("shared")
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        try? DiskQueue(folder: folder).append(Array("\(task) \(number)".utf8))
                    }
                }
            }
        }
        let found = try contents(DiskQueue(folder: folder))
        #expect(Set(found).count == 200)
        for task in 0..<4 {
            let own = found.filter { $0.hasPrefix("\(task) ") }
            #expect(own == (0..<50).map { "\(task) \($0)" })
        }
    }
}
