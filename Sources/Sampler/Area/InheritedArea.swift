import ProfileModel

/// The memory of an image that is about to begin.
struct InheritedArea {
    let area: Area
    /// Under which number the process has it.
    let descriptor: Int32

    /// The program must not keep what was left to it for us: our bootstrap, which finds nothing to
    /// map, closes it. Not under a filter, which might kill for that.
    ///
    /// - Parameter thread: stopped at the program's first instruction.
    func discard(by thread: any ThreadAccess, of pid: Int32) {
        guard let cave = ImageStart(pid: pid).cave else { return }
        let code = AreaCode.boot(descriptor: descriptor, place: 0, size: 0, isAtEntry: false)
        // Where the kernel protects memory from being written by way of its file, it does not from
        // who traces the thread.
        if !TargetMemory(pid: pid).write(code, at: cave),
            (try? thread.write(code, at: cave)) == nil
        {
            return
        }
        _ = try? thread.divert(to: cave)
    }
}

/// What our code is led to, before anything of an image has run.
extension Area.Contents {
    /// - Returns: the linker's hook, and what is there now; nil: it is no place for a jump.
    mutating func takeHook(
        of linker: DynamicLinker, _ memory: TargetMemory
    ) -> (address: UInt64, word: UInt64)? {
        let code = memory.read(at: linker.debugState, count: 16)
        guard LinkerHook.isEmptyFunction(code), let word = code.littleEndianWord(at: 0) else {
            return nil
        }
        listen(to: linker)
        patches.append(
            Area.Patch(address: linker.debugState, word: word, target: AreaCode.debugState))
        return (linker.debugState, word)
    }

    /// Our code believes what the linker tells.
    mutating func listen(to linker: DynamicLinker) {
        debug = linker.debug
        isMusl = linker.isMusl
    }

    /// musl's linker tells nothing where its hook is no place for a jump. It goes on where the kernel
    /// says that the program begins: that leads to our code once.
    ///
    /// - Parameter thread: at the image's first instruction.
    mutating func takeEntry(of start: ImageStart, _ thread: some ThreadAccess) {
        guard let linker = start.linker, linker.isMusl, startSlot != 0,
            let stack = try? thread.registers().stackPointer,
            let slot = start.vector.entrySlot(onStack: stack, start.program?.memory)
        else { return }
        listen(to: linker)
        entry = (slot, start.vector.entry)
        patches.append(Area.Patch(address: slot, word: place &+ AreaCode.entry))
    }

    /// A static program's calls are in its own code, which is there already.
    mutating func lead(
        _ sites: CallSites, of calls: [CallSites.Call], _ memory: TargetMemory
    ) {
        patches += calls.compactMap { call in
            guard let site = sites[call], let word = memory.word(at: site) else { return nil }
            return Area.Patch(
                address: site, word: word, target: AreaCode.standIn(for: call), call: call)
        }
    }
}
