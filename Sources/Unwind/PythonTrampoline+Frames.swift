import Architecture
import ELF

extension PythonTrampoline {
    /// nil: the file is no interpreter, or its trampoline has another shape.
    init?(_ file: ELFFile) {
        guard let address = file.symbolTables(isDynamic: true).first?.address(of: Self.name),
            let code = file.bytes(at: address, count: Self.length)
        else { return nil }
        self.init(code: code)
    }
}

extension Unwinder {
    /// Leaves a copy of CPython's trampoline. Other code may be there, too: so the word on the
    /// stack must be an address after a call through a pointer, as trampolines are called.
    func leaveTrampoline(_ walk: inout Walk, _ memory: StackMemory) -> Bool {
        guard let trampoline = space.trampoline,
            let index = space.rangeIndex(around: walk.lookup), space.ranges[index].isNameless
        else { return false }
        let places = trampoline.returnPlaces(
            at: walk.programCounter &- space.ranges[index].start,
            isReturnAddress: walk.lookup != walk.programCounter
        ).filter { isWayBack(memory.word(at: walk.stackPointer &+ $0)) }
        guard let place = places.first, places.count == 1,
            let caller = memory.word(at: walk.stackPointer &+ place)
        else { return false }
        if trampoline.savesFramePointer, place > 0 {
            walk.setFramePointer(memory.word(at: walk.stackPointer))
        }
        walk.stackPointer &+= place &+ 8
        walk.move(toReturnAddress: caller)
        return true
    }

    /// True if a word is an address after a call through a pointer.
    private func isWayBack(_ word: UInt64?) -> Bool {
        guard let word, let index = space.rangeIndex(around: word) else { return false }
        let range = space.ranges[index]
        return range.tables?.isBehindIndirectCall(word &- range.bias) == true
    }
}
