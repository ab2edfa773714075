import Architecture
import ProfileModel
import Synchronization
import Testing

@testable import Agent
@testable import Sampler

/// Placing a planner's marks, without a program.
@Suite struct MarkPlacementTests {
    private struct Planner: MarkPlanner {
        let requests: [MarkRequest]
        func prepare(_ file: String, path: String) {}
        func plan(
            for image: MarkedImage,
            read: @Sendable (_ address: UInt64, _ count: Int) -> [UInt8]
        ) -> MarkPlan? { nil }
    }

    private final class Told: Sendable {
        let problems = Mutex<[MarkProblem]>([])
    }

    private let told = Told()
    private let marks: MarkPlacement
    private static let code: UInt64 = 0x5555_5555_0000

    init() {
        let requests = ["a", "b"].map {
            MarkRequest(name: $0, place: .function($0, library: nil, isSpan: false))
        }
        marks = MarkPlacement(Planner(requests: requests)) { [told] problem in
            told.problems.withLock { $0.append(problem) }
        }
    }

    private func change(at start: UInt64) -> MarkPlan.Change {
        MarkPlan.Change(
            start: start, requests: [1],
            trampoline: MovableCode([0xFF, 0x15], to: .routine) + .jump(to: start + 5))
    }

    @Test func missingFunctionsAreReportedAtTheEnd() {
        #expect(marks.problems.map(\.cause) == [.unavailable, .unavailable])
        var plan = MarkPlan()
        plan.found = [0]
        plan.refusals = [.init(request: 0, place: "a(int)", reason: .narrow)]
        marks.note(plan)
        #expect(marks.problems.map(\.request.name) == ["b"])
        #expect(marks.problems.map(\.cause) == [.notFound])
        let causes = told.problems.withLock { $0.map(\.cause) }
        #expect(causes == [.refused(place: "a(int)", .narrow)])
    }

    @Test func trampolinesGoWhereTheyAreInReach() throws {
        let size = 64
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 2 * size, alignment: 16)
        defer { memory.deallocate() }
        let far = TrampolineSpace(
            memory: memory, size: size, address: Self.code << 2, routine: 0x1234)
        let near = TrampolineSpace(
            memory: memory + size, size: size, address: Self.code + 0x1000, routine: 0x1234)
        marks.spaces = [far, near]
        let change = change(at: Self.code)
        #expect(change.inside == (Self.code + 1)..<(Self.code + 5))
        #expect(marks.makeTrampoline(change) == [0xE9, 0x03, 0x10, 0, 0])
        let written = UnsafeRawBufferPointer(start: memory + size + 8, count: 11)
        // call *-14(%rip), where the word is; jmp back
        #expect(Array(written.prefix(6)) == [0xFF, 0x15, 0xF2, 0xFF, 0xFF, 0xFF])
        #expect(
            change.trampoline.bytes(at: Self.code + 0x1008, routine: Self.code + 0x1000)
                == Array(written))
        // The room is used up, sooner or later; places without any room in reach are reported as
        // too far.
        while marks.makeTrampoline(change) != nil {}
        #expect(marks.makeTrampoline(self.change(at: Self.code >> 8)) == nil)
        let causes = told.problems.withLock { $0.map(\.cause) }
        #expect(causes == [.refused(place: "b", .noRoom), .refused(place: "b", .tooFar)])
    }
}
