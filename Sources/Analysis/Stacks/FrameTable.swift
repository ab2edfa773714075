/// Functions and frames, interned: all later steps work with integers.
package struct FrameTable: Sendable {
    package private(set) var functions: [Function] = []
    package private(set) var frames: [Frame] = []
    private var functionIDs: [Function: FunctionID] = [:]
    private var frameIDs: [Frame: FrameID] = [:]

    /// - Parameter capacity: the expected number of functions and frames. Growing hashes every name
    ///   again, and names may be long.
    init(capacity: Int = 0) {
        functionIDs.reserveCapacity(capacity)
        frameIDs.reserveCapacity(capacity)
    }

    /// `id` must come from this table.
    package subscript(id: FunctionID) -> Function { functions[Int(id.rawValue)] }
    /// `id` must come from this table.
    package subscript(id: FrameID) -> Frame { frames[Int(id.rawValue)] }

    package func function(of id: FrameID) -> Function { self[self[id].function] }

    mutating func intern(_ function: Function) -> FunctionID {
        if let known = functionIDs[function] { return known }
        let id = FunctionID(Int32(truncatingIfNeeded: functions.count))
        functions.append(function)
        functionIDs[function] = id
        return id
    }

    mutating func intern(_ frame: Frame) -> FrameID {
        if let known = frameIDs[frame] { return known }
        let id = FrameID(Int32(truncatingIfNeeded: frames.count))
        frames.append(frame)
        frameIDs[frame] = id
        return id
    }

    /// A frame that represents `function` as a whole.
    mutating func internFrame(of function: Function) -> FrameID {
        intern(Frame(function: intern(function)))
    }

    /// Whether `left` comes before `right` in lists of equal weight: by name, then by module.
    func precedes(_ left: FunctionID, _ right: FunctionID) -> Bool {
        guard left != right else { return false }
        let (first, second) = (self[left], self[right])
        if first.name != second.name { return first.name < second.name }
        if first.module != second.module { return first.module < second.module }
        return left.rawValue < right.rawValue
    }
}
