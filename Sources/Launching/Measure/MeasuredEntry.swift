package import Agent
import Glibc
package import ProcessIO
import ProfileModel

/// Brings our code into an image whose first thread is stopped at its first instruction, only to
/// note the launch's borders, and then detaches from the thread for good.
package struct MeasuredEntry {
    package let pid: Int32
    package let thread: any ThreadAccess
    /// Where a static program makes the system calls that concern us, if we have searched for them.
    package var sites: PreparedSites?
    /// True if the image runs only under the restrictions that we run under.
    package let isOurs: Bool
    /// True if a condition waits for a signpost of the program.
    package let watchesSignposts: Bool
    package let entryCodes: EntryCodes

    /// As small as possible: the buffers for stacks are not used.
    package static let stackBytes = 4096

    /// The calls by which the program executes another one, may install a filter for system calls,
    /// and locks memory. Its signals do not concern us.
    private static let calls: [CallSites.Call] = [.execve, .prctl, .mlockall, .syscall]

    private var process: KernelProcess { KernelProcess(pid: pid) }

    package struct Result {
        /// True if the image has a dynamic linker.
        package let isDynamic: Bool
        /// True if its first instruction begins its own code.
        package let beginsWithMain: Bool
        /// nil: the image runs without our code.
        package let code: MeasuredCode?
    }

    /// - Parameter inherited: the memory that it inherited; nil: none.
    package func enter(_ inherited: InheritedAgent?) -> Result {
        defer { try? thread.detach() }
        var start = ImageStart(of: process, isAtFirstInstruction: true)
        start.knownEntryCode = entryCodes.code(of: start, pid: pid)
        return Result(
            isDynamic: !start.isStatic, beginsWithMain: start.isStatic && start.beginsAtEntry,
            code: bringIn(inherited, start))
    }

    private func bringIn(_ inherited: InheritedAgent?, _ start: ImageStart) -> MeasuredCode? {
        // If another file has that number, it is the program's own.
        guard let inherited, isOurs || inherited.area.isOpen(in: process, as: inherited.descriptor)
        else { return nil }
        switch permission {
        case .granted: break
        // A filter might kill the program if we removed it.
        case .filtered: return nil
        case .refused:
            inherited.discard(by: thread, of: process)
            return nil
        }
        guard let code = lead(to: inherited, start) else {
            inherited.discard(by: thread, of: process)
            return nil
        }
        return code
    }

    private enum Permission { case granted, filtered, refused }

    private var permission: Permission {
        if isOurs { return .granted }
        guard let status = process.status else { return .refused }
        if status.isFiltered(beyond: ThreadStatus.ownFilters) { return .filtered }
        let fits = AgentMemory.fits(process, stackBytes: Self.stackBytes)
        return status.hasShadowStack || !fits ? .refused : .granted
    }

    private func lead(to inherited: InheritedAgent, _ start: ImageStart) -> MeasuredCode? {
        let (area, memory) = (inherited.area, process.memory)
        guard start.vector.entry != 0, let place = start.place(size: area.size),
            let cave = start.cave
        else { return nil }
        // Its process has the same ids for us: only children can have others.
        var contents = AgentMemory.Contents(place: place, recorder: getpid(), cookie: 1)
        contents.isMeasured = true
        contents.calls = Self.calls
        let hook = start.linker.flatMap { contents.takeHook(of: $0, memory) }
        start.fillMain(into: &contents)
        contents.takeEntry(of: start, hasHook: hook != nil, thread)
        let notesRelocation = hook != nil || contents.entry != nil
        contents.isGated = watchesSignposts && notesRelocation
        if start.hasCLibrary {
            contents.lead(start.ownSites(sites), of: Self.calls, memory)
        } else {
            contents.sites = CallSites.ofOwnLibrary
        }
        area.fill(contents)
        _ = area.open()
        let code = AgentCode.boot(
            descriptor: inherited.descriptor, place: place, size: area.size, isAtEntry: false)
        // A recorder that was killed may have left its own code there.
        let before = memory.read(at: cave, count: code.count)
        guard before.count == code.count, !AgentCode.isPiece(before),
            memory.write(code, at: cave), (try? thread.divert(to: cave)) != nil
        else { return nil }
        area.wasInherited()
        var entered = MeasuredCode(
            area: area, notesMain: start.notesMain(contents), notesRelocation: notesRelocation,
            patches: contents.patchesThatFit)
        if watchesSignposts { entered.signposts = LaunchSignposts(pid: pid, area, start) }
        return entered
    }
}
