import Architecture
package import Images
package import ProcessIO
import ProfileModel

/// The memory that a new image inherits, before it begins.
package struct InheritedAgent {
    package let area: AgentMemory
    /// The descriptor's number in the process.
    package let descriptor: Int32

    package init(area: AgentMemory, descriptor: Int32) {
        self.area = area
        self.descriptor = descriptor
    }

    /// Closes the descriptor that the program holds for us. Our bootstrap does so, with nothing to
    /// map. Do not call this under a filter, which might kill the program for it.
    ///
    /// - Parameter thread: a thread that is stopped at the program's first instruction.
    package func discard(by thread: any ThreadAccess, of process: any ProcessAccess) {
        guard let cave = ImageStart(of: process).cave else { return }
        let code = AgentCode.boot(descriptor: descriptor, place: 0, size: 0, isAtEntry: false)
        // The kernel may forbid writing to memory through its file, but allow it to the thread's
        // tracer.
        if !process.memory.write(code, at: cave),
            (try? thread.write(code, at: cave)) == nil
        {
            return
        }
        _ = try? thread.divert(to: cave)
    }
}

/// The changes that lead to our code before any code of an image has run.
extension AgentMemory.Contents {
    /// - Returns: the linker's hook, and its present word; nil: a jump does not fit there.
    package mutating func takeHook(
        of linker: DynamicLinker, _ memory: TargetMemory
    ) -> (address: UInt64, word: UInt64)? {
        let code = memory.read(at: linker.debugState, count: 16)
        guard EmptyFunction.hasRoomForJump(code), let word = code.littleEndianWord(at: 0) else {
            return nil
        }
        listen(to: linker)
        patches.append(
            AgentMemory.Patch(address: linker.debugState, word: word, target: AgentCode.debugState))
        return (linker.debugState, word)
    }

    /// Makes our code accept the linker's reports.
    package mutating func listen(to linker: DynamicLinker) {
        debug = linker.debug
        isMusl = linker.isMusl
    }

    /// When a linker is done, it continues at the address that the kernel gave it as the program's
    /// start: we make that lead to our code once. That is needed for a program with start code of
    /// its own (Go), whose `main` is not noted otherwise; and for musl's linker if a jump does not
    /// fit its hook, because it reports nothing then.
    ///
    /// - Parameters:
    ///   - hasHook: true if the linker will call our code.
    ///   - thread: at the image's first instruction.
    package mutating func takeEntry(
        of start: ImageStart, hasHook: Bool, _ thread: some ThreadAccess
    ) {
        // A linker that was executed itself recognises that by this address.
        guard let linker = start.linker, !start.runsLinker,
            hasHook ? start.beginsAtEntry : linker.isMusl && startPointer != 0,
            let stack = try? thread.registers().stackPointer,
            let pointer = start.vector.entryPointer(onStack: stack, start.program?.memory)
        else { return }
        listen(to: linker)
        entry = (pointer, start.vector.entry)
        patches.append(AgentMemory.Patch(address: pointer, word: place &+ AgentCode.entry))
    }

    /// A static program's calls are in its own code, which is already there.
    package mutating func lead(
        _ sites: CallSites, of calls: [CallSites.Call], _ memory: TargetMemory
    ) {
        patches += calls.compactMap { call in
            guard let site = sites[call], let word = memory.word(at: site) else { return nil }
            return AgentMemory.Patch(
                address: site, word: word, target: AgentCode.standIn(for: call), call: call)
        }
    }
}
