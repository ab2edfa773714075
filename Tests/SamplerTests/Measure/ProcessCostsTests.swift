import ProfileModel
import TestSupport
import Testing

@testable import Launching
@testable import Sampler

@Suite struct ProcessCostsTests {
    private typealias News = ProcessCosts.News

    private func news(_ time: Int64, _ pid: Int32, _ kind: ProcessCosts.Kind) -> News {
        News(time: MonotonicTime(nanoseconds: time), pid: pid, kind: kind)
    }

    private func costs(
        _ news: [News], until end: Int64 = 1000, used: (Int32) -> TimeSpan? = { _ in nil }
    ) -> [MeasuredProcesses] {
        ProcessCosts(of: 1, called: "sh", news)
            .costs(until: MonotonicTime(nanoseconds: end), used: used)
    }

    private func processes(
        _ name: String, _ count: Int, _ wall: Int64, _ cpu: Int64?, running: Int = 0
    ) -> MeasuredProcesses {
        MeasuredProcesses(
            name: name, count: count, running: running, wall: TimeSpan(nanoseconds: wall),
            cpu: cpu.map(TimeSpan.init(nanoseconds:)))
    }

    @Test func oneThatExecutes() {
        let found = costs([
            news(5, 1, .executed(name: "dash")), news(10, 7, .began(creator: 1)),
            news(20, 7, .executed(name: "git")), news(50, 7, .threadEnded),
            news(51, 7, .used(TimeSpan(nanoseconds: 12))),
            news(52, 7, .used(TimeSpan(nanoseconds: 3))),
            news(60, 8, .began(creator: 1)), news(90, 8, .threadEnded),
        ])
        // Of one process the kernel reports no CPU time.
        #expect(found == [processes("git", 1, 40, 15), processes("dash", 1, 30, nil)])
    }

    /// Ids come again, news of another core come late, and a thread's end is not its process's.
    @Test func threadsAndIds() {
        let used = ProcessCosts.Kind.used(TimeSpan(nanoseconds: 1))
        let found = costs([
            news(50, 7, .threadEnded), news(50, 7, used),
            news(10, 7, .began(creator: 1)), news(15, 7, .threadBegan), news(30, 7, .threadEnded),
            news(30, 7, used), news(60, 7, .began(creator: 7)), news(61, 7, .executed(name: "a")),
            news(80, 7, .threadEnded), news(80, 7, used),
        ])
        #expect(found == [processes("sh", 1, 40, 2), processes("a", 1, 20, 1)])
    }

    @Test func thoseThatGoOn() {
        let all = [
            news(10, 7, .began(creator: 1)), news(20, 8, .began(creator: 7)),
            news(70, 8, .threadEnded), news(70, 8, .used(TimeSpan(nanoseconds: 4))),
            news(120, 9, .began(creator: 1)),
        ]
        let found = costs(all, until: 50) { $0 == 7 ? TimeSpan(nanoseconds: 9) : nil }
        #expect(found == [processes("sh", 2, 70, 13, running: 2)])
        #expect(costs(all, until: 50) == [processes("sh", 2, 70, nil, running: 2)])
        // A process that has ended after the launch has used more than during the launch.
        let late = ProcessCosts(of: 1, called: "sh", all).costs(
            until: MonotonicTime(nanoseconds: 50), isLate: true
        ) { _ in TimeSpan(nanoseconds: 9) }
        #expect(late == [processes("sh", 2, 70, 18, running: 2)])
    }

    /// Whatever a program calls its children.
    @Test func manyNames() {
        let found = costs(
            (0..<500).flatMap { number in
                let pid = Int32(number + 2)
                return [
                    news(Int64(number), pid, .began(creator: 1)),
                    news(Int64(number), pid, .executed(name: "n\(number)")),
                ]
            })
        #expect(found.count == 201)
        #expect(found.last?.name == "(other programs)" && found.last?.count == 300)
    }

    /// Any reports, in any order.
    @Test(arguments: 0..<200) func anything(seed: UInt64) {
        var generator = SeededNumbers(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        let all = (0..<number(0...60)).map { _ in
            let kinds: [ProcessCosts.Kind] = [
                .began(creator: Int32(number(0...6))), .threadBegan, .threadEnded,
                .executed(name: ["a", "b", ""][number(0...2)]),
                .used(TimeSpan(nanoseconds: Int64(number(0...9)))),
            ]
            return news(Int64(number(0...99)), Int32(number(0...6)), kinds[number(0...4)])
        }
        let end = Int64(number(0...99))
        for process in costs(all, until: end) {
            #expect(process.count > 0 && process.wall >= .zero)
            #expect(process.wall.nanoseconds <= end * Int64(process.count))
        }
    }
}
