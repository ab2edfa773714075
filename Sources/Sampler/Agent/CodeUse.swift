import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Tells whether threads are in code that is about to change, or will return to it.
struct CodeUse: SessionPart {
    let context: SessionContext

    func isUnused(_ code: ChangedCode, by stopped: [TracedThread]) -> Bool {
        threads.values.filter { $0.phase != .exited }.allSatisfy { thread in
            let registers: Registers
            if stopped.contains(where: { $0.tid == thread.tid }) {
                guard let all = try? thread.tracee.registers() else { return false }
                registers = all
            } else {
                guard case .blocked(_, let shown) = thread.activity() else { return false }
                registers = shown
            }
            return !isIn(code, thread, registers)
        }
    }

    /// True if a thread that does not run is in the given code, or will return to it. A handler
    /// returns to where its signal found the thread.
    func isIn(_ code: ChangedCode, _ thread: TracedThread, _ registers: Registers) -> Bool {
        code.contains(registers.programCounter)
            || code.isReferred(by: stack(of: thread, registers))
    }

    /// True if a handler is running in a stopped thread and will return into the given code.
    func isInterrupted(
        in code: Range<UInt64>, _ thread: TracedThread, _ registers: Registers
    ) -> Bool {
        SignalFrame.returns(into: code, from: stack(of: thread, registers))
    }

    /// The part of a thread's stack that may hold return addresses.
    private func stack(of thread: TracedThread, _ registers: Registers) -> [UInt8] {
        let start = registers.stackPointer
        // A stack pointer may hold anything. If it points to no stack, there is nothing to return
        // to.
        let end = observer.mappings.region(around: start)?.end ?? start &+ 65536
        let size = end > start ? end - start : 0
        return thread.tracee.memory(at: start, count: Int(min(size, 1 << 20)))
    }
}

/// Code that is about to change, and must not be in use.
struct ChangedCode {
    private let ranges: [Range<UInt64>]

    init(_ ranges: [Range<UInt64>]) {
        self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }
    }

    func contains(_ address: UInt64) -> Bool {
        let index = ranges.partitionIndex { $0.upperBound > address }
        return index < ranges.count && ranges[index].contains(address)
    }

    /// True if any word of the stack is an address in this code.
    func isReferred(by stack: [UInt8]) -> Bool {
        guard let first = ranges.first?.lowerBound, let last = ranges.last?.upperBound else {
            return false
        }
        return stride(from: 0, to: stack.count - 7, by: 8).contains { offset in
            guard let word = stack.littleEndianWord(at: offset), word >= first, word < last else {
                return false
            }
            return contains(word)
        }
    }
}
