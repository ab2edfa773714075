/// Replaces native frames that run Python frames by the Python frames.
package enum PythonMerge {
    /// A frame of a native stack.
    package struct NativeFrame: Hashable, Sendable {
        /// Its lowest address; it ends where its caller's begins.
        package var stackPointer: UInt64
        /// True if its function is known to be the interpreter's loop.
        package var isLoop: Bool

        package init(stackPointer: UInt64, isLoop: Bool) {
            (self.stackPointer, self.isLoop) = (stackPointer, isLoop)
        }
    }

    package enum Step: Hashable, Sendable {
        /// A native frame, by its index.
        case native(Int)
        /// A frame of an activation, by the indices of both.
        case python(Int, Int)
    }

    /// The merged stack, innermost frame first; nil: the two stacks contradict each other. A native
    /// frame stays if its activation has no frame.
    ///
    /// - Parameters:
    ///   - native: innermost first.
    ///   - isComplete: true if the native stack ends with the thread's first frame. If not,
    ///     Python's frames beyond its end follow it.
    package static func steps(
        _ native: [NativeFrame], isComplete: Bool, _ stack: PythonStack
    ) -> [Step]? {
        let isPlaced = stack.activations.contains { $0.place != nil }
        let homes =
            isPlaced
            ? placed(native, isComplete: isComplete, stack)
            : dealt(native, isComplete: isComplete, stack)
        return homes.map { joined($0, native.count, stack) }
    }

    /// The native frames that run the activations, where there is one. Other activations follow, or
    /// are missing. nil: the two stacks contradict each other.
    typealias Homes = (native: [Int], followers: Range<Int>)

    static func placed(
        _ native: [NativeFrame], isComplete: Bool, _ stack: PythonStack
    ) -> Homes? {
        let activations = stack.activations
        var (homes, next, lowest) = ([Int](), 0, UInt64(0))
        for (index, activation) in activations.enumerated() {
            guard let place = activation.place else {
                return unplaced(from: index, homes, native, isComplete: isComplete, stack)
            }
            guard place >= lowest else { return nil }
            lowest = place
            if let home = home(of: place, in: native, from: next) {
                homes.append(home)
                next = home + 1
            } else {
                guard !isComplete, let last = native.last, place >= last.stackPointer,
                    isAscending(activations[index...])
                else { return nil }
                return (homes, index..<activations.count)
            }
        }
        return (homes, activations.count..<activations.count)
    }

    /// - Returns: nil: it is in no native frame from `first` on.
    private static func home(
        of place: UInt64, in native: [NativeFrame], from first: Int
    ) -> Int? {
        for index in native.indices.dropFirst(first) where native[index].stackPointer <= place {
            guard index + 1 < native.count else {
                // The end of the last one is unknown.
                return native[index].isLoop ? index : nil
            }
            if place < native[index + 1].stackPointer { return index }
        }
        return nil
    }

    private static func isAscending(_ activations: ArraySlice<PythonStack.Activation>) -> Bool {
        let places = activations.compactMap(\.place)
        return zip(places, places.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// Activations with unknown places, after others with known ones: the last one of a cut stack,
    /// or those beyond the native stack's end.
    private static func unplaced(
        from index: Int, _ homes: [Int], _ native: [NativeFrame], isComplete: Bool,
        _ stack: PythonStack
    ) -> Homes? {
        let count = stack.activations.count
        guard stack.activations[index...].allSatisfy({ $0.place == nil }) else { return nil }
        if stack.isCut, index == count - 1 {
            let next = native.indices.dropFirst((homes.last ?? -1) + 1)
                .first { native[$0].isLoop }
            if let next { return (homes + [next], count..<count) }
        }
        return isComplete ? nil : (homes, index..<count)
    }

    /// Assigns by order: each native frame of the loop has one activation.
    private static func dealt(
        _ native: [NativeFrame], isComplete: Bool, _ stack: PythonStack
    ) -> Homes? {
        let count = stack.activations.count
        var loops = native.indices.filter { native[$0].isLoop }
        if isComplete, !stack.isCut, isBetweenFrames(loops, count) { loops.removeFirst() }
        guard loops.count >= count || !isComplete, loops.count <= count || stack.isCut else {
            return nil
        }
        let met = min(loops.count, count)
        return (Array(loops.prefix(met)), met..<count)
    }

    /// True if the innermost loop is just being entered or left: it has no frame yet, or no longer.
    /// Then it has made hardly any calls.
    private static func isBetweenFrames(_ loops: [Int], _ count: Int) -> Bool {
        guard let innermost = loops.first, count > 0 else { return false }
        return loops.count == count + 1 && innermost <= 1
    }

    static func joined(_ homes: Homes, _ count: Int, _ stack: PythonStack) -> [Step] {
        var (steps, next) = ([Step](), 0)
        func frames(_ index: Int) -> [Step] {
            stack.activations[index].frames.indices.map { .python(index, $0) }
        }
        for index in 0..<count {
            if next < homes.native.count, homes.native[next] == index {
                let frames = frames(next)
                steps += frames.isEmpty ? [.native(index)] : frames
                next += 1
            } else {
                steps.append(.native(index))
            }
        }
        return steps + homes.followers.flatMap(frames)
    }
}
