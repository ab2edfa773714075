import ProfileModel
import TestSupport
import Testing

@testable import Launching
@testable import Sampler

/// Sends a ``WatchedLaunches`` the kernel's events.
private final class Machine {
    private var launches: WatchedLaunches

    init(_ names: String...) {
        let wanted = names.compactMap { ProgramName($0) }
        launches = WatchedLaunches(
            of: wanted.isEmpty ? .all : .programs(wanted), own: 1, tick: .milliseconds(4))
    }

    func tell(_ kind: ProcessEvent.Kind, at time: Int64, clock: TimeSpan? = nil) {
        launches.add(event(kind, time), clock: clock)
    }

    func fork(_ pid: Int32, from parent: Int32 = 100, at time: Int64) {
        tell(.processBegan(pid: pid, parent: parent), at: time)
    }

    /// - Parameter path: nil if the program is not known.
    func exec(_ pid: Int32, _ path: String?, at time: Int64) {
        let program = path.map { path in
            let file = path.split(separator: "/").last.map { Array($0.utf8) } ?? []
            return WatchedLaunches.Program(
                names: ProcessNames(
                    command: Array(file.prefix(15)), executable: Array(path.utf8), arguments: []))
        }
        launches.add(event(.executed(pid: pid), time), program: program)
    }

    func exit(_ pid: Int32, tid: Int32? = nil, code: Int32 = 0, at time: Int64) {
        tell(.threadEnded(process: pid, tid: tid ?? pid, code: code), at: time)
    }

    func cost(_ tid: Int32, cpu: Int64 = 1_000_000_000, faults: Int64 = 1) {
        launches.add(
            ThreadCosts.News(
                tid: tid,
                costs: ThreadCosts(cpu: TimeSpan(nanoseconds: cpu), minorFaults: faults)))
    }

    func lose(_ events: Int64) { launches.lost(events) }
    func loseCosts() { launches.lostCosts() }

    func take() -> [WatchedLaunch] { launches.take() }
    var tally: WatchTally { launches.tally }
    var running: Int { launches.running }

    private func event(_ kind: ProcessEvent.Kind, _ time: Int64) -> ProcessEvent {
        ProcessEvent(kind: kind, time: MonotonicTime(nanoseconds: time))
    }
}

@Suite struct WatchedLaunchesTests {
    @Test func aLaunchGoesFromForkToEnd() throws {
        let machine = Machine("app")
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/app", at: 20)
        #expect(machine.running == 1)
        machine.cost(5)
        machine.exit(5, code: 3 << 8, at: 50)
        let launch = try #require(machine.take().first)
        #expect(launch.pid == 5 && launch.program.path == "/opt/app")
        #expect(launch.begun.nanoseconds == 10 && launch.ended.nanoseconds == 50)
        #expect(launch.outcome == .exited(3) && launch.images.map(\.time.nanoseconds) == [20])
        #expect(launch.cpu == .milliseconds(1000) && launch.counters.minorFaults == 1)
        #expect(machine.running == 0 && machine.take().isEmpty && machine.tally == WatchTally())
    }

    @Test func othersAreNotWatched() {
        let machine = Machine("app")
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/other", at: 20)
        machine.exit(5, at: 50)
        #expect(machine.take().isEmpty && machine.tally == WatchTally())
    }

    @Test func aForkAloneIsNoLaunch() {
        let machine = Machine()
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/app", at: 20)
        machine.fork(6, from: 5, at: 30)
        machine.exit(6, at: 40)
        machine.exit(5, at: 50)
        #expect(machine.take().map(\.pid) == [5])
    }

    @Test func aSignalEndsIt() {
        let machine = Machine()
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/app", at: 20)
        machine.exit(5, code: 0x80 | 11, at: 30)
        #expect(machine.take().first?.outcome == .signalled(11))
    }

    // MARK: Threads

    @Test func theLastThreadEndsIt() {
        let machine = Machine()
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/app", at: 20)
        machine.tell(.threadBegan(process: 5, tid: 6), at: 25)
        // The first thread goes first (pthread_exit), the other one ends the process.
        machine.cost(5)
        machine.exit(5, at: 30)
        #expect(machine.take().isEmpty)
        machine.cost(6)
        machine.exit(5, tid: 6, code: 3 << 8, at: 40)
        let launch = machine.take().first
        #expect(launch?.ended.nanoseconds == 40 && launch?.outcome == .exited(3))
        #expect(launch?.cpu == .milliseconds(2000) && launch?.counters.minorFaults == 2)
    }

    @Test func threadsThatAnExecEndedAreToldLate() {
        let machine = Machine()
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/wrapper", at: 20)
        machine.tell(.threadBegan(process: 5, tid: 6), at: 25)
        machine.exec(5, "/opt/app", at: 30)
        machine.exit(5, tid: 6, code: 9, at: 31)
        #expect(machine.take().isEmpty && machine.running == 1)
        machine.exit(5, at: 50)
        #expect(machine.take().first?.ended.nanoseconds == 50)
    }

    @Test func aThreadOfWhoIsNotKnown() {
        let machine = Machine()
        machine.tell(.threadBegan(process: 5, tid: 6), at: 25)
        machine.exit(5, tid: 6, at: 31)
        machine.exit(5, at: 32)
        #expect(machine.take().isEmpty && machine.tally == WatchTally())
    }

    // MARK: Wrappers

    @Test func theLastProgramCounts() {
        let machine = Machine()
        machine.fork(5, at: 10)
        machine.exec(5, "/usr/bin/env", at: 20)
        machine.exec(5, "/opt/app", at: 30)
        machine.exit(5, at: 50)
        let launch = machine.take().first
        #expect(launch?.program.name == "app")
        #expect(launch?.images.map(\.path) == ["/usr/bin/env", "/opt/app"])
    }

    @Test func ofNamedOnesTheLastThatIsNamed() {
        let machine = Machine("wrapper")
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/wrapper", at: 20)
        machine.exec(5, "/opt/app", at: 30)
        machine.exit(5, at: 50)
        let launch = machine.take().first
        #expect(launch?.program.name == "wrapper" && launch?.images.count == 2)
    }

    @Test func endlessExecsAreNoLaunch() {
        let machine = Machine()
        machine.fork(5, at: 10)
        for time in 0..<10_000 { machine.exec(5, "/opt/app", at: Int64(20 + time)) }
        machine.exit(5, at: 50_000)
        #expect(machine.take().isEmpty && machine.tally.partial == 1)
    }

    // MARK: Unknown values

    @Test func aProcessThatRanBeforeHasNoLaunch() {
        let machine = Machine("app")
        machine.exec(5, "/opt/app", at: 20)
        machine.exec(6, "/opt/other", at: 20)
        machine.exit(5, at: 30)
        #expect(machine.take().isEmpty && machine.tally.partial == 1)
    }

    @Test func aProgramWithoutNameIsCounted() {
        let machine = Machine("app")
        machine.fork(5, at: 10)
        machine.exec(5, nil, at: 20)
        machine.exit(5, at: 30)
        #expect(machine.take().isEmpty && machine.tally.unnamed == 1)
    }

    @Test func aWrapperWithoutNameLosesNoLaunch() {
        let machine = Machine("app")
        machine.fork(5, at: 10)
        machine.exec(5, nil, at: 20)
        machine.exec(5, "/opt/app", at: 25)
        machine.exit(5, at: 30)
        #expect(machine.take().first?.images.map(\.path) == ["", "/opt/app"])
    }

    @Test func anIdIsGivenOutAgain() {
        let machine = Machine()
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/app", at: 20)
        // Its end was not reported.
        machine.fork(5, at: 30)
        machine.exec(5, "/opt/other", at: 40)
        machine.exit(5, at: 50)
        #expect(machine.take().map(\.program.name) == ["other"] && machine.tally.partial == 1)
    }

    @Test func aLossEndsWhatIsKnown() {
        let machine = Machine()
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/app", at: 20)
        machine.lose(3)
        machine.exit(5, at: 30)
        #expect(machine.take().isEmpty)
        #expect(machine.tally.lostEvents == 3 && machine.tally.partial == 1)
        // Processes that begin now are seen again.
        machine.fork(5, at: 40)
        machine.exec(5, "/opt/app", at: 50)
        machine.exit(5, at: 60)
        #expect(machine.take().count == 1)
    }

    @Test func ourOwnChildrenHaveNoLaunch() {
        let machine = Machine()
        machine.fork(5, from: 1, at: 10)
        machine.exec(5, "/usr/bin/firstlight", at: 20)
        machine.exit(5, at: 30)
        #expect(machine.take().isEmpty && machine.tally == WatchTally())
    }

    // MARK: Costs

    @Test func childrenThatEndedCount() {
        let machine = Machine("app")
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/app", at: 20)
        machine.fork(6, from: 5, at: 30)
        machine.cost(6, faults: 10)
        machine.exit(6, at: 40)
        machine.cost(5, faults: 1)
        machine.exit(5, at: 50)
        let launch = machine.take().first
        #expect(launch?.counters.minorFaults == 11 && launch?.cpu == .milliseconds(1000))
    }

    @Test func costsThatAreLostAreNotKnown() {
        let machine = Machine()
        machine.fork(5, at: 10)
        machine.exec(5, "/opt/app", at: 20)
        machine.cost(5)
        machine.loseCosts()
        machine.exit(5, at: 30)
        let launch = machine.take().first
        #expect(launch?.cpu == nil && launch?.counters == ProcessCounters())
    }

    /// Less than fifty ticks may be wrong by too much.
    @Test func shortCPUTimeNeedsAClock() {
        func cpu(_ told: Int64, clock: TimeSpan?) -> TimeSpan? {
            let machine = Machine()
            machine.fork(5, at: 10)
            machine.exec(5, "/opt/app", at: 20)
            machine.cost(5, cpu: told)
            machine.tell(.threadEnded(process: 5, tid: 5, code: 0), at: 30, clock: clock)
            return machine.take().first?.cpu
        }
        #expect(cpu(200_000_000, clock: nil) == .milliseconds(200))
        #expect(cpu(199_000_000, clock: nil) == nil)
        #expect(cpu(0, clock: .milliseconds(3)) == .milliseconds(3))
        // The clock belongs to another process that now has the number.
        #expect(cpu(9_000_000, clock: .milliseconds(3)) == nil)
        #expect(cpu(0, clock: .milliseconds(300)) == nil)
    }

    // MARK: Anything at all

    /// With any events from the kernel: no launch ends before it begins, or is there twice.
    @Test func eventsInAnyOrder() {
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<200 {
            let machine = Machine()
            var ended: [WatchedLaunch] = []
            var forks = 0
            for time in 0..<300 {
                let (pid, time) = (Int32.random(in: 2...6, using: &numbers), Int64(time))
                switch Int.random(in: 0..<8, using: &numbers) {
                case 0, 1:
                    machine.fork(pid, from: .random(in: 0...6, using: &numbers), at: time)
                    forks += 1
                case 2: machine.tell(.threadBegan(process: pid, tid: pid + 10), at: time)
                case 3, 4: machine.exec(pid, Bool.random(using: &numbers) ? "/a" : nil, at: time)
                case 5: machine.exit(pid, tid: pid + 10, at: time)
                case 6: machine.cost(pid)
                default: machine.exit(pid, at: time)
                }
                if Int.random(in: 0..<100, using: &numbers) == 0 { machine.lose(1) }
                ended += machine.take()
            }
            #expect(ended.count <= forks)
            #expect(ended.allSatisfy { $0.begun <= $0.ended && !$0.images.isEmpty })
            #expect(Set(ended.map(\.begun)).count == ended.count)
        }
    }
}
