import ProfileModel
import TestSupport
import Testing

/// A recording of several processes, and the recordings of each that can be made of it.
@Suite struct ProcessDivisionTests {
    private static func time(_ nanoseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(nanoseconds))
    }

    private static func random(_ seed: UInt64) -> Recording {
        var random = SeededNumbers(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var recording = Recording(
            header: Recording.Header(
                pid: 1, isAttached: false, capture: .ptrace, frequency: 1000))
        recording.children = (0..<number(0...4)).map { index in
            ChildProcess(
                pid: Int32(10 + index), parent: 1, name: "c\(index)", start: time(index))
        }
        func child() -> ChildIndex? {
            recording.children.isEmpty || number(0...2) == 0
                ? nil : ChildIndex(number(0...recording.children.count - 1))
        }
        recording.threads = (0..<number(1...9)).map { index in
            RecordedThread(
                tid: Int32(index), name: "t\(index)", start: time(0), isMain: false,
                child: index == 0 ? nil : child())
        }
        func thread() -> ThreadIndex { ThreadIndex(number(0...recording.threads.count - 1)) }
        recording.slices = (0..<40).map { index in
            Slice(
                thread: thread(), start: time(100 * index),
                times: StateTimes(running: TimeSpan(nanoseconds: Int64(number(1...99)))),
                stack: nil)
        }
        recording.wakeups = (0..<10).map { index in
            Wakeup(
                thread: thread(), time: time(index), waker: 3, wakerName: "",
                wakerThread: thread(), isInterrupt: false)
        }
        recording.mappings = (0..<6).map { index in
            Mapping(
                start: UInt64(index), end: UInt64(index + 1), bias: 0, module: ModuleIndex(0),
                time: time(0), child: child())
        }
        recording.signposts = (0..<6).map { index in
            Signpost(
                name: "\(index)", category: "", thread: thread(), time: time(index), child: child())
        }
        return recording
    }

    /// Every row is in exactly one of them, and says the same there.
    @Test(arguments: 1...60) func theyHaveAllOfIt(seed: UInt64) throws {
        let whole = Self.random(seed)
        let children = try whole.children.indices.map {
            try #require(whole.only(ChildIndex($0)))
        }
        let all = [whole.withoutChildren] + children
        func sorted(_ recordings: [Recording]) -> [String] {
            recordings.flatMap { recording in
                recording.slices.map { slice in
                    "\(recording.threads[slice.thread.rawValue].tid) \(slice.start) \(slice.times)"
                }
            }.sorted()
        }
        #expect(sorted(all) == sorted([whole]))
        #expect(all.map(\.threads.count).reduce(0, +) == whole.threads.count)
        #expect(all.map(\.mappings.count).reduce(0, +) == whole.mappings.count)
        #expect(all.map(\.signposts.count).reduce(0, +) == whole.signposts.count)
        #expect(all.map(\.wakeups.count).reduce(0, +) == whole.wakeups.count)
        for one in all {
            #expect(one.threads.allSatisfy { $0.child == nil } && one.children.isEmpty)
            #expect(one.mappings.allSatisfy { $0.child == nil })
            // A waker in another process is known by name.
            #expect(one.wakeups.allSatisfy { $0.wakerThread != nil || !$0.wakerName.isEmpty })
        }
        #expect(children.map(\.header.pid) == whole.children.map(\.pid))
        #expect(whole.only(ChildIndex(whole.children.count)) == nil)
    }

    /// Until it executes a program, a child is a copy of its parent.
    @Test func aChildsLaunchIsThatOfItsOwnProgram() {
        var child = ChildProcess(pid: 2, parent: 1, name: "b", start: Self.time(1))
        child.images = [
            Image(path: "/a", arguments: [], time: Self.time(1)),
            Image(path: "/b", arguments: [], time: Self.time(5)),
        ]
        let borders: [(kind: LaunchBorder.Kind, time: Int)] = [
            (.spawned, 1), (.firstInstruction, 1), (.main, 1), (.firstInstruction, 5), (.main, 7),
        ]
        child.borders = borders.map { LaunchBorder(kind: $0.kind, time: Self.time($0.time)) }
        #expect(child.launchImages.map(\.path) == ["/b"])
        #expect(child.launchBorders.map(\.kind) == [.spawned, .firstInstruction, .main])
        #expect(child.launchBorders.map(\.time.nanoseconds) == [1, 5, 7])
        child.images.removeLast()
        #expect(child.launchImages.map(\.path) == ["/a"] && child.launchBorders.count == 5)
    }
}
