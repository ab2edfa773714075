import CAgent
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Agent
@testable import Launching
@testable import Sampler

/// What the program's memory says of its launch, which may be anything.
@Suite struct LaunchNotesTests {
    private static func time(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count) }

    private static func area(_ change: (inout fl_state) -> Void) throws -> AgentMemory {
        let area = try #require(AgentMemory(stackBytes: 4096))
        area.fill(AgentMemory.Contents(place: 1 << 40, recorder: 0, cookie: 1))
        var state = area.read(fl_state.self, at: Int(FL_STATE))
        state.phase = UInt32(FL_PHASE_SETTLED)
        state.address = 1 << 40
        change(&state)
        withUnsafeBytes(of: state) { area.write(Array($0), at: Int(FL_STATE)) }
        return area
    }

    private static func moment(_ time: Int64, _ cpu: Int64, _ faults: Int64) -> fl_moment {
        fl_moment(time_ns: time, cpu_ns: cpu, minor_faults: faults)
    }

    private static func image(
        at reached: Int64, cpu: Int64?, _ area: AgentMemory, notesMain: Bool = true
    ) -> MeasuredImage {
        MeasuredImage(
            reached: time(reached), cpu: cpu.map { TimeSpan(nanoseconds: $0) },
            MeasuredEntry.Result(
                isDynamic: true, beginsWithMain: false,
                code: MeasuredCode(area: area, notesMain: notesMain, notesRelocation: true)))
    }

    private static func whole(_ state: inout fl_state) {
        state.stretches.0 = fl_stretch(start: moment(1120, 210, 50), end: moment(1150, 230, 60))
        state.stretches.1 = fl_stretch(start: moment(1300, 370, 90), end: moment(1320, 385, 95))
        state.stretches.2 = fl_stretch(start: moment(1400, 450, 99), end: moment(1402, 451, 99))
        state.borders = 3
    }

    @Test func aWholeLaunch() throws {
        var notes = LaunchNotes(start: Self.time(1000), cpu: TimeSpan(nanoseconds: 100))
        notes.add(Self.image(at: 1100, cpu: 200, try Self.area(Self.whole)), until: Self.time(2000))
        #expect(
            notes.borders.map(\.kind) == [
                .spawned, .held, .released, .firstInstruction, .watched, .relocated, .watched,
                .held,
                .released, .main, .held, .released,
            ])
        #expect(notes.held == TimeSpan(nanoseconds: 50 + 20 + 2))
        #expect(notes.ownCPU == TimeSpan(nanoseconds: 30 + 15 + 1))
        #expect(notes.faults == 10 + 2 + 5)
        let cpu = notes.cpu.mapValues(\.nanoseconds)
        #expect(cpu[Self.time(1150)] == 100 && cpu[Self.time(1300)] == 240)
        #expect(cpu[Self.time(1400)] == 305)
        #expect(notes.net(TimeSpan(nanoseconds: 1000))?.nanoseconds == 854)
    }

    /// Without an end of its own a border was never left: nothing of it is believed.
    @Test func aBorderWithoutAnEndIsNotBelieved() throws {
        var notes = LaunchNotes(start: Self.time(1000), cpu: nil)
        let area = try Self.area { state in
            Self.whole(&state)
            state.stretches.1.end = fl_moment()
            state.stretches.2.start.time_ns = 0
        }
        notes.add(Self.image(at: 1100, cpu: nil, area), until: Self.time(2000))
        #expect(
            notes.borders.map(\.kind) == [
                .spawned, .held, .released, .firstInstruction, .watched,
            ])
        #expect(notes.cpu.isEmpty && notes.net(.zero) == nil)
    }

    @Test func anImageWithoutOurCode() throws {
        for phase in [FL_PHASE_EMPTY, FL_PHASE_FILLED, FL_PHASE_ABANDONED] {
            var notes = LaunchNotes(start: Self.time(1000), cpu: .zero)
            let area = try Self.area { state in
                Self.whole(&state)
                state.phase = UInt32(phase)
            }
            notes.add(Self.image(at: 1100, cpu: 200, area), until: Self.time(2000))
            #expect(notes.borders.map(\.kind) == [.spawned, .firstInstruction])
            #expect(notes.held == .zero)
        }
    }

    @Test(arguments: 0..<300)
    func anythingAtAll(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        func any() -> Int64 {
            [
                Int64.random(in: 900...2100, using: &numbers), 0, -1, .max, .min,
                Int64(bitPattern: numbers.next()),
            ].randomElement(using: &numbers) ?? 0
        }
        func stretch() -> fl_stretch {
            fl_stretch(
                start: Self.moment(any(), any(), any()), end: Self.moment(any(), any(), any()))
        }
        var notes = LaunchNotes(start: Self.time(1000), cpu: .zero)
        for index in 0..<3 {
            let area = try Self.area { state in
                state.stretches = (stretch(), stretch(), stretch())
                (state.ahead_ns, state.followed_ns) = (any(), any())
                state.borders = 3
            }
            let reached = Int64(1100 + 300 * index)
            notes.add(
                Self.image(at: reached, cpu: reached, area), until: Self.time(reached + 300))
        }
        #expect(notes.borders.allSatisfy { (1000...2000).contains($0.time.nanoseconds) })
        #expect(notes.held >= .zero && notes.held <= TimeSpan(nanoseconds: 1000))
        let stretches = HeldTime(notes.borders).stretches
        #expect(stretches.map { $0.upperBound - $0.lowerBound }.reduce(.zero, +) == notes.held)
        for (one, next) in zip(stretches, stretches.dropFirst()) {
            #expect(one.upperBound <= next.lowerBound)
        }
    }
}
