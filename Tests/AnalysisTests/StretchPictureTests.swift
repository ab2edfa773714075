import ProfileModel
import TestSupport
import Testing

@testable import Analysis

/// However long a launch took and however many stacks there are, a picture has its size.
@Suite struct StretchPictureTests {
    /// Stacks are nodes of a tree in which each has up to four callees: `(n - 1) / 4` is n's caller.
    private static func caller(_ stack: Int) -> Int? { stack == 0 ? nil : (stack - 1) / 4 }

    private static func stretches(
        threads: Int, count: Int, stacks: Int, _ numbers: inout SeededNumbers
    ) -> [[Stretch]] {
        (0..<threads).map { thread in
            var start = TimeSpan.zero
            return (0..<count).map { _ in
                // Some are seen again and again, most hardly ever.
                let rank = Double.random(in: 0..<1, using: &numbers)
                let stack = Int(rank * rank * rank * Double(stacks))
                let wall = TimeSpan(nanoseconds: .random(in: 1...2_000_000, using: &numbers))
                defer { start = start + wall }
                let isBlocked = stack % 3 == 0
                return Stretch(
                    phase: start > .milliseconds(500) ? 1 : 0, thread: thread, start: start,
                    times: isBlocked ? StateTimes(blocked: wall) : StateTimes(running: wall),
                    stack: stack, waitStack: isBlocked ? stack : nil)
            }
        }
    }

    private struct Key: Hashable {
        var thread: Int
        var phase: Int
        var stack: Int?
    }

    private static func sums(
        _ stretches: some Sequence<Stretch>, stacks: (Int) -> [Int?]
    ) -> [Key: TimeSpan] {
        var sums: [Key: TimeSpan] = [:]
        for stretch in stretches {
            for stack in stacks(stretch.stack) {
                let key = Key(thread: stretch.thread, phase: stretch.phase, stack: stack)
                sums[key] = (sums[key] ?? .zero) + stretch.times.wall
            }
        }
        return sums
    }

    private func picture(_ lists: [[Stretch]], most: Int) -> StretchPicture {
        StretchPicture(Tiles(lists, most: most), most: most, caller: Self.caller)
    }

    private func all(_ picture: StretchPicture) -> [Stretch] {
        Array(picture.lists.joined()) + picture.scattered.joined().map(\.stretch)
    }

    @Test func fewStayAsTheyAre() {
        var numbers = SeededNumbers(seed: 1)
        let lists = Self.stretches(threads: 3, count: 50, stacks: 20, &numbers)
        let picture = picture(lists, most: 150)
        #expect(picture.lists.map(\.count) == [50, 50, 50])
        #expect(picture.scattered.allSatisfy(\.isEmpty) && picture.charged == .zero)
    }

    @Test(arguments: 0..<4) func manyStacksKeepTheirSums(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let lists = Self.stretches(threads: 4, count: 5000, stacks: 300, &numbers)
        let picture = picture(lists, most: 6000)
        let found = all(picture)
        #expect(found.count <= 6000 && !picture.scattered.joined().isEmpty)
        #expect(picture.charged == .zero)
        #expect(Self.sums(lists.joined()) { [$0] } == Self.sums(found) { [$0] })
        for entry in picture.scattered.joined() {
            // It has room for its time where it is said to be.
            #expect(entry.end - entry.stretch.start >= entry.stretch.times.wall)
        }
        for list in picture.lists {
            #expect(zip(list, list.dropFirst()).allSatisfy { $0.end <= $1.start })
        }
    }

    /// Threads and phases keep their sums, and callers those of all that they call.
    @Test(arguments: 0..<4) func tooManyStacksEndInTheirCallers(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let lists = Self.stretches(threads: 4, count: 5000, stacks: 20_000, &numbers)
        let picture = picture(lists, most: 1500)
        let found = all(picture)
        #expect(found.count <= 1500)
        #expect(picture.charged > .zero)
        #expect(Self.sums(lists.joined()) { _ in [nil] } == Self.sums(found) { _ in [nil] })
        // A stack's figure is at most its original one with all its callees.
        func lineage(_ stack: Int) -> [Int?] {
            Array(sequence(first: stack) { Self.caller($0) })
        }
        let (before, after) = (
            Self.sums(lists.joined(), stacks: lineage), Self.sums(found, stacks: lineage)
        )
        #expect(after.allSatisfy { $0.value <= before[$0.key] ?? .zero })
        // And time that ended in a caller ended in one of the stack's own callers: below the root
        // nothing is missing.
        #expect(after.filter { $0.key.stack == 0 } == before.filter { $0.key.stack == 0 })
    }

    /// No more stacks can be merged: there are more entries instead, and the merging ends.
    @Test func threadsThatHaveNothingInCommon() {
        var numbers = SeededNumbers(seed: 4)
        let lists = Self.stretches(threads: 300, count: 4, stacks: 4000, &numbers)
        let picture = picture(lists, most: 10)
        #expect(
            Self.sums(lists.joined()) { _ in [nil] } == Self.sums(all(picture)) { _ in [nil] })
        // Each thread's outermost frame, and the same with its waits.
        #expect(all(picture).count <= 610)
    }
}
