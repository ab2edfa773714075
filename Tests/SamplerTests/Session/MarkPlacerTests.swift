import Architecture
import CAgent
import ProfileModel
import Testing

@testable import Agent
@testable import Images
@testable import Sampler

/// A session on a made process: how it stops threads to place marks.
extension ProcessSessionTests {
    private struct Planner: MarkPlanner {
        let requests = [
            MarkRequest(name: "a", place: .function("a", library: nil, isSpan: false))
        ]
        func prepare(_ file: String, path: String) {}
        func plan(
            for image: MarkedImage, read: @Sendable (_ address: UInt64, _ count: Int) -> [UInt8]
        ) -> MarkPlan? {
            var plan = MarkPlan()
            plan.found = [0]
            plan.changes = [
                MarkPlan.Change(
                    start: 0x50_0000, requests: [0], trampoline: .jump(to: 0x50_0005))
            ]
            return plan
        }
    }

    private func marking() throws -> (session: ProcessSession, marks: MarkPlacement) {
        let session = launched()
        let image = try #require(session.stage.image)
        let area = try #require(AgentMemory(stackBytes: 4096))
        let contents = AgentMemory.Contents(
            place: 0x7000_0000_0000, recorder: 0, cookie: SharedSlots.makeCookie())
        area.fill(contents)
        area.set(\.phase, UInt32(FL_PHASE_SETTLED))
        session.parts.agentSetup.use(area, contents, Instrumentation.Setup(), in: image)
        let marks = MarkPlacement(Planner(), tell: nil)
        marks.pending = [LinkedObject(bias: 0, path: "/made/library", dynamicAddress: 0)]
        session.context.marks = marks
        return (session, marks)
    }

    /// All other threads are stopped while it is waited for.
    @Test func aThreadThatDoesNotStopKeepsMarksAway() throws {
        let (session, marks) = try marking()
        process.deaf = process.pid
        var held = TimeSpan.zero
        func placeMarks() {
            process.pass(10)
            let before = process.now
            session.parts.markPlacer.placeMarks()
            held = held + (process.now - before)
        }
        for _ in 0..<100 { placeMarks() }
        #expect(held < .milliseconds(100))
        for _ in 0..<10_000 where !marks.isOver { placeMarks() }
        #expect(held < .milliseconds(500))
        #expect(marks.isOver)
        #expect(marks.problems.map(\.cause) == [.unavailable])
        #expect(sink.borders.filter { $0 == .held }.count > 2)
    }

    /// As a thread may set it: there is nothing above.
    @Test func aStackPointerAtTheVeryEnd() throws {
        let session = launched()
        let thread = try #require(session.threads[process.pid])
        for pointer in [.max, .max - 4095, .max - 4096] as [UInt64] {
            let registers = Registers(programCounter: 0x40_1000, stackPointer: pointer)
            #expect(!session.parts.codeUse.isIn(ChangedCode([0x1000..<0x2000]), thread, registers))
        }
    }
}
