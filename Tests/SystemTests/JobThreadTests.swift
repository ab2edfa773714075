import Glibc
import ProfileModel
import Synchronization
import System
import Testing

struct JobThreadTests {
    @Test func `a job is done on a thread of its own, and tells what came of it`() throws {
        let own = pthread_self()
        let thread = try #require(JobThread { pthread_self() })
        let other = try #require(thread.join())
        #expect(other != own)
    }

    @Test func `jobs run beside each other`() throws {
        // Each waits for the other's word.
        final class Words: Sendable {
            let first = Atomic(false)
            let second = Atomic(false)
        }
        let words = Words()
        let thread = try #require(
            JobThread {
                words.first.store(true, ordering: .releasing)
                while !words.second.load(ordering: .acquiring) { sched_yield() }
                return 7
            })
        while !words.first.load(ordering: .acquiring) { sched_yield() }
        words.second.store(true, ordering: .releasing)
        #expect(thread.join() == 7)
    }

    /// Goes down the stack until it has used so many bytes.
    private static func descend(_ bytes: Int, from start: UInt) -> Int {
        var local = 0
        let here = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
        return start - here >= bytes ? 1 : 1 + descend(bytes, from: start)
    }

    /// In a process of its own, which would not outlive a smaller stack.
    @Test func `a stack is as large as asked for`() async {
        await #expect(processExitsWith: .success) {
            let thread = JobThread(stackSize: 64 << 20) {
                var local = 0
                let start = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
                return Self.descend(48 << 20, from: start)
            }
            #expect((thread?.join() ?? 0) > 1000)
        }
    }

    @Test func `nobody waits for a started thread`() {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        #expect(startThread { close(writer) })
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 0)
    }

    @Test func `what a job holds goes with it`() throws {
        final class Held: Sendable {}
        weak var left: Held?
        do {
            let held = Held()
            left = held
            let thread = try #require(JobThread { withExtendedLifetime(held) {} })
            thread.join()
        }
        #expect(left == nil)
    }
}
