import Runtimes
import TestSupport
import Testing

/// Stacks that are made so that the answer is known.
struct MergeTests {
    /// What a made native frame runs; nil: it is not the interpreter's loop. Else how many Python frames
    /// have begun in it.
    private typealias Shape = [Int?]

    private struct Made {
        var native: [PythonMerge.NativeFrame] = []
        var activations: [PythonStack.Activation] = []
        /// For each native frame, the steps that replace it.
        var steps: [[PythonMerge.Step]] = []

        init(_ shape: Shape, isPlaced: Bool, sizes: (Int) -> UInt64 = { _ in 64 }) {
            var pointer: UInt64 = 0x7FFF_0000_0000
            for (index, count) in shape.enumerated() {
                native.append(.init(stackPointer: pointer, isLoop: count != nil))
                steps.append([.native(index)])
                if let count {
                    if count > 0 {
                        steps[index] = (0..<count).map { .python(activations.count, $0) }
                    }
                    activations.append(
                        .init(
                            place: isPlaced ? pointer + sizes(index) / 2 : nil,
                            frames: frames(count)))
                }
                pointer += sizes(index)
            }
        }

        func stack(isCut: Bool = false) -> PythonStack {
            PythonStack(activations: activations, isCut: isCut)
        }

        func merged(isComplete: Bool = true, isCut: Bool = false) -> [PythonMerge.Step]? {
            PythonMerge.steps(native, isComplete: isComplete, stack(isCut: isCut))
        }
    }

    private static func frames(_ count: Int) -> [PythonStack.Frame] {
        (0..<count).map {
            PythonStack.Frame(
                key: PythonCodeKey(address: UInt64(8 * $0), identity: []), code: nil,
                instruction: 0)
        }
    }

    /// All of up to five native frames.
    private static let shapes: [Shape] = {
        var all: [Shape] = [[]]
        var longest = all
        for _ in 0..<5 {
            longest = longest.flatMap { shape in [nil, 0, 1, 2].map { shape + [$0] } }
            all += longest
        }
        return all
    }()

    private static func random(_ numbers: inout SeededNumbers) -> Shape {
        (0..<Int.random(in: 1...40, using: &numbers)).map { _ in
            Bool.random(using: &numbers) ? nil : Int.random(in: 0...5, using: &numbers)
        }
    }

    @Test(arguments: [true, false])
    func `each activation takes the place of its native frame`(_ isPlaced: Bool) {
        for shape in Self.shapes {
            let made = Made(shape, isPlaced: isPlaced)
            #expect(made.merged() == made.steps.flatMap { $0 }, "\(shape)")
        }
        var numbers = SeededNumbers(seed: 1)
        for _ in 0..<500 {
            let shape = Self.random(&numbers)
            let sizes = shape.map { _ in 16 * UInt64.random(in: 1...500, using: &numbers) }
            let made = Made(shape, isPlaced: isPlaced) { sizes[$0] }
            #expect(made.merged() == made.steps.flatMap { $0 }, "\(shape)")
        }
    }

    @Test func `places need no names of native functions`() {
        var numbers = SeededNumbers(seed: 2)
        for _ in 0..<500 {
            // A thread's first function is not the loop.
            let shape = Self.random(&numbers) + [nil]
            var made = Made(shape, isPlaced: true)
            guard !made.activations.isEmpty else { continue }
            for index in made.native.indices {
                made.native[index].isLoop = Bool.random(using: &numbers)
            }
            #expect(made.merged() == made.steps.flatMap { $0 }, "\(shape)")
        }
    }

    @Test(arguments: [true, false])
    func `what is beyond the end of a native stack follows it`(_ isPlaced: Bool) {
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<500 {
            let shape = Self.random(&numbers)
            var made = Made(shape, isPlaced: isPlaced)
            let left = Int.random(in: 1...shape.count, using: &numbers)
            made.native.removeSubrange(left...)
            var expected = made.steps[..<left].flatMap { $0 }
            expected += made.steps[left...].flatMap { $0 }.filter {
                if case .python = $0 { true } else { false }
            }
            #expect(made.merged(isComplete: false) == expected, "\(shape)")
            let isWhole = shape[left...].allSatisfy { $0 == nil }
            #expect((made.merged() != nil) == isWhole, "\(shape)")
        }
    }

    /// As 3.12 has it: the mark that tells the place follows the frames, and is missing with some.
    @Test func `the last activation of a cut stack may have no place`() {
        var numbers = SeededNumbers(seed: 5)
        for _ in 0..<500 {
            let shape = Self.random(&numbers).map { $0 == 0 ? 1 : $0 }
            var made = Made(shape, isPlaced: true)
            guard !made.activations.isEmpty else { continue }
            let left = Int.random(in: 1...made.activations.count, using: &numbers)
            made.activations.removeSubrange(left...)
            made.activations[left - 1].place = nil
            let last = made.activations[left - 1].frames.count
            made.activations[left - 1].frames.removeLast(Int.random(in: 0..<last, using: &numbers))
            let expected = made.native.indices.flatMap { index -> [PythonMerge.Step] in
                guard case .python(let activation, _) = made.steps[index].first else {
                    return made.steps[index]
                }
                guard activation < left else { return [.native(index)] }
                return made.activations[activation].frames.indices.map { .python(activation, $0) }
            }
            #expect(made.merged(isCut: true) == expected, "\(shape)")
            if left > 1 { #expect(made.merged() == nil, "\(shape)") }
        }
    }

    @Test func `a cut stack leaves native frames as they are`() {
        var made = Made([nil, nil, 2, nil, 1], isPlaced: false)
        made.activations.removeLast()
        #expect(made.merged() == nil)
        #expect(
            made.merged(isCut: true)
                == [.native(0), .native(1), .python(0, 0), .python(0, 1), .native(3), .native(4)])
    }

    @Test func `contradictions are not merged`() {
        let shape: Shape = [nil, 1, nil, 2, nil, 1, nil]
        let made = Made(shape, isPlaced: true)
        func changed(_ change: (inout Made) -> Void) -> [PythonMerge.Step]? {
            var other = made
            change(&other)
            return other.merged()
        }
        #expect(changed { _ in } != nil)
        // In no frame.
        #expect(changed { $0.activations[0].place = 0x1000 } == nil)
        // Two in one.
        #expect(changed { $0.activations[1].place = $0.activations[0].place.map { $0 + 1 } } == nil)
        // In the wrong order.
        #expect(changed { $0.activations.swapAt(0, 1) } == nil)
        // One is not known.
        #expect(changed { $0.activations[1].place = nil } == nil)
        let dealt = Made(shape, isPlaced: false)
        var fewer = dealt
        fewer.activations.removeLast(2)
        #expect(fewer.merged() == nil)
        var more = dealt
        more.activations.append(.init(place: nil, frames: []))
        #expect(more.merged() == nil)
        #expect(more.merged(isComplete: false) != nil)
    }

    /// Before 3.11, where places are not known.
    @Test func `a loop that has no frame yet stays`() {
        let made = Made([nil, 1, nil, 2], isPlaced: false)
        func merged(
            adding loops: Int, below others: Int, isComplete: Bool = true, isCut: Bool = false
        ) -> [PythonMerge.Step]? {
            var begun = made
            for _ in 0..<loops { begun.native.insert(.init(stackPointer: 0, isLoop: true), at: 0) }
            for _ in 0..<others {
                begun.native.insert(.init(stackPointer: 0, isLoop: false), at: 0)
            }
            return begun.merged(isComplete: isComplete, isCut: isCut)
        }
        let rest: [PythonMerge.Step] = [
            .native(1), .python(0, 0), .native(3), .python(1, 0), .python(1, 1),
        ]
        #expect(merged(adding: 1, below: 0) == [.native(0)] + rest)
        // It has called the function that counts its depth.
        #expect(merged(adding: 1, below: 1)?.count == 7)
        // A loop that has called more functions has a frame.
        #expect(merged(adding: 1, below: 2) == nil)
        #expect(merged(adding: 2, below: 0) == nil)
        #expect(merged(adding: 1, below: 0, isCut: true)?.first == .python(0, 0))
    }

    @Test func `without Python, the native stack stays`() {
        let made = Made([nil, nil], isPlaced: true)
        #expect(made.merged() == [.native(0), .native(1)])
        let none = PythonStack(activations: [], isCut: false)
        #expect(PythonMerge.steps([], isComplete: true, none) == [])
        // A loop that has begun, and no frame yet.
        var begun = Made([1, nil], isPlaced: true)
        begun.native.insert(
            .init(stackPointer: begun.native[0].stackPointer - 64, isLoop: true), at: 0)
        #expect(begun.merged() == [.native(0), .python(0, 0), .native(2)])
    }
}
