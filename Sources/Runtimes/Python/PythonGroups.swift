import ProfileModel

/// Groups a thread's frames, newest first, into activations.
struct PythonGroups {
    private let places: PythonLayout.Frame
    private(set) var activations: [PythonStack.Activation] = []
    /// The address of the newest frame of each activation, even if its frames have not begun.
    private(set) var newest: [UInt64] = []
    private var isOpen = false

    init(_ places: PythonLayout.Frame) { self.places = places }

    /// - Returns: false: it cannot be a frame.
    mutating func append(
        _ record: FrameRecord, _ identity: ArraySlice<UInt8>,
        _ code: (PythonCodeKey) -> PythonCode?,
        _ interpreter: PythonInterpreter
    ) -> Bool {
        if !isOpen {
            activations.append(.init(place: nil, frames: []))
            newest.append(record.address)
            isOpen = true
        }
        let last = activations.count - 1
        if interpreter.isShim(record) {
            activations[last].place = record.address
            isOpen = false
            return true
        }
        guard let address = record.code, Self.mayBeCode(identity),
            let instruction = instruction(record, address, interpreter.offsets.code)
        else { return false }
        let key = PythonCodeKey(address: address, identity: identity)
        let known = code(key).flatMap { instruction < $0.length ? $0 : nil }
        if known.map({ hasBegun(record, instruction, $0) }) ?? true {
            activations[last].frames.append(
                PythonStack.Frame(
                    key: key, code: known, instruction: instruction,
                    tracedLine: tracedLine(record),
                    firstLocal: (record.word(places.firstLocal) ?? 0)
                        & interpreter.offsets.localMask,
                    globals: record.word(places.globals) ?? 0, address: record.address))
        }
        closeIfOutermost(record)
        return true
    }

    /// False if it has some of a code object's pointers but not all: 3.11 announces a native frame
    /// before it writes which frame that one runs, so an old pointer may be read.
    private static func mayBeCode(_ identity: ArraySlice<UInt8>) -> Bool {
        let words = stride(from: 0, to: identity.count, by: 8).map { place -> UInt64 in
            identity.littleEndian(at: place) ?? 0
        }
        return words.allSatisfy { $0 == 0 } || !words.contains(0)
    }

    mutating func finish() { isOpen = false }

    private mutating func closeIfOutermost(_ record: FrameRecord) {
        switch places.grouping {
        case .single: isOpen = false
        case .mark(let place): isOpen = record.byte(place) == 0
        case .shim: break
        }
    }

    /// In bytes; nil: it is not near the code.
    private func instruction(
        _ record: FrameRecord, _ code: UInt64, _ layout: PythonLayout.Code
    ) -> Int32? {
        switch places.instruction {
        case .index(let place, let unit):
            guard let index = record.int32(place), index < Int32.max / unit else { return nil }
            return index < 0 ? -1 : index * unit
        case .address(let place):
            guard let address = record.word(place), case .inside(let start) = layout.start else {
                return nil
            }
            let distance = Int64(bitPattern: address &- code.advanced(by: start))
            guard -64...Int64(Int32.max / 2) ~= distance else { return nil }
            return distance < 0 ? -1 : Int32(distance)
        }
    }

    /// Python itself does not show frames under construction, either.
    private func hasBegun(
        _ record: FrameRecord, _ instruction: Int32, _ code: PythonCode
    ) -> Bool {
        places.owner == nil || places.isOfGenerator(record)
            || instruction >= code.firstTraceable
    }

    private func tracedLine(_ record: FrameRecord) -> Int32? {
        switch places.tracedLine {
        case .ifPointer(let line, let trace):
            return record.word(trace) ?? 0 == 0 ? nil : record.int32(line)
        case .ifSet(let line): return record.int32(line).flatMap { $0 == 0 ? nil : $0 }
        case .never: return nil
        }
    }
}
