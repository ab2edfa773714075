import Architecture
import CAgent
import CSystem
import Glibc
import ProfileModel
import Synchronization
import System
import TestSupport
import Testing

@testable import Agent
@testable import Sampler

/// The C library's calls that pass by the area's code: signals' actions and masks, other programs, filters.
extension AgentSignalTests {
    typealias Call =
        @convention(c) (Int, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)
        -> Int

    /// A C library of a function for each call, which is behind six bytes.
    static func library() throws -> UnsafeMutableRawPointer {
        let descriptor = fl_make_memory("library", 4096)
        try #require(descriptor >= 0)
        let page = try #require(fl_map_memory(descriptor, 4096))
        for (index, call) in CallSites.Call.allCases.enumerated() {
            // mov $8, %r10d; mov $number, %eax; syscall; ret
            var code: [UInt8] = [0x41, 0xBA, 8, 0, 0, 0] + call.code + [0xC3]
            // mov %rdi, %rax; mov %rsi, %rdi; mov %rdx, %rsi; mov %rcx, %rdx; mov %r8, %r10;
            // mov %r9, %r8
            if call == .syscall {
                code =
                    [0x48, 0x89, 0xF8, 0x48, 0x89, 0xF7, 0x48, 0x89, 0xD6, 0x48, 0x89, 0xCA]
                    + [0x4D, 0x89, 0xC2, 0x4D, 0x89, 0xC8] + call.code + [0xC3]
            }
            (page + 64 * index).copyMemory(from: code, byteCount: code.count)
        }
        try #require(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
        return page
    }

    /// The calls, led past the area's code by the recorder as in a static program.
    static func calls(
        past mapped: MappedAgentMemory
    ) throws -> (page: UnsafeMutableRawPointer, calls: [Call]) {
        let page = try library()
        let start = UInt64(UInt(bitPattern: page))
        try #require(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0)
        for call in CallSites.Call.allCases {
            let place = 64 * call.index + (call == .syscall ? 18 : 6)
            let site = start + UInt64(place)
            let word = page.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let jump = try #require(
                JumpPatch.word(
                    from: site, to: mapped.area.position(Int(AgentCode.standIn(for: call)))))
            page.storeBytes(
                of: word & ~0xFF_FFFF_FFFF | jump, toByteOffset: place, as: UInt64.self)
            mapped.area.setReturn(of: call, to: site + 7, word: word)
        }
        try #require(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
        return (
            page, CallSites.Call.allCases.map { unsafeBitCast(page + 64 * $0.index, to: Call.self) }
        )
    }

    /// syscall(2).
    typealias Numbered = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int

    /// In a forked child the page that belongs to its parent alone is empty.
    @Test func aForkedChildLosesOurHandler() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 1) }
            let (page, calls) = try Self.calls(past: mapped)
            let sigaction = calls[CallSites.Call.sigaction.index]
            // Not by way of our code.
            let direct = unsafeBitCast(
                try Self.library() + 64 * CallSites.Call.sigaction.index, to: Call.self)
            func handler() -> UInt64 {
                var action = Action()
                #expect(direct(Int(Self.signal), nil, &action) == 0)
                return action.handler
            }
            let ours = handler()
            #expect(ours == mapped.address + AgentCode.sampleHandler)
            var other = Action()
            #expect(sigaction(Int(SIGUSR1), nil, &other) == 0)
            #expect(handler() == ours)
            mapped.store(UInt32(0), at: Int(FL_OWN))
            // A filter may forbid it.
            mapped.area.silence()
            #expect(sigaction(Int(SIGUSR1), nil, &other) == 0 && handler() == ours)
            mapped.area.set(\.filtered, 0)
            #expect(sigaction(Int(SIGUSR1), nil, &other) == 0 && handler() == 1)
            // Once, and the signal never has an action of the child's own.
            var own = Action(handler: 0, flags: 0, restorer: 0, mask: 0)
            #expect(sigaction(Int(Self.signal), &own, nil) == 0 && handler() == 0)
            munmap(page, 4096)
        }
    }

    /// Memory that a program locks or creates is not the area's.
    @Test func theAreaIsNotLocked() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle()
            let (_, calls) = try Self.calls(past: mapped)
            // MADV_COLD is refused where memory is locked.
            func isLocked(_ page: UnsafeMutableRawPointer) -> Bool { madvise(page, 4096, 20) != 0 }
            let own = try #require(mmap(nil, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
            let lock = calls[CallSites.Call.mlockall.index]
            let syscall = unsafeBitCast(
                calls[CallSites.Call.syscall.index], to: (@convention(c) (Int, Int) -> Int).self)
            for call in [{ lock($0, nil, nil) }, { syscall(151, $0) }] as [(Int) -> Int] {
                // MCL_CURRENT | MCL_ONFAULT, for this process is large.
                #expect(call(5) == 0)
                #expect(isLocked(own))
                for part in [0, FL_STATE, FL_SLOTS] {
                    #expect(!isLocked(mapped.program + Int(part)))
                }
                #expect(call(1 << 20) == -22)
                #expect(munlockall() == 0)
            }
        }
    }

    /// struct kernel_sigaction.
    struct Action: Equatable {
        var handler: UInt64 = 7
        var flags: UInt64 = 7
        var restorer: UInt64 = 7
        var mask: UInt64 = 7
    }

    @Test func theProgramSeesItsOwnAction() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 1) }
            let (_, calls) = try Self.calls(past: mapped)
            let sigaction = calls[CallSites.Call.sigaction.index]
            var old = Action()
            #expect(sigaction(Int(Self.signal), nil, &old) == 0)
            #expect(old.handler == 1 && old.flags == 0)
            #expect(!mapped.area.isDisplaced)
            // Another signal does not concern us.
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            #expect(sigaction(Int(Self.signal) + 1, &ignored, &old) == 0)
            #expect(old.handler == 0 && !mapped.area.isDisplaced)
            #expect(sigaction(Int(Self.signal) + 1, nil, &old) == 0)
            #expect(old.handler == 1)
            #expect(sigaction(99, nil, &old) == -Int(EINVAL))
            // Its own action for ours ends the requests.
            #expect(sigaction(Int(Self.signal), &ignored, &old) == 0)
            #expect(old.handler == 1 && mapped.area.isDisplaced)
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0) == .refused)
            Self.ask(slots, 0)
        }
    }

    @Test func masksAreCounted() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let bit: UInt64 = 1 << UInt64(Self.signal - 1)
            let steps: [(how: Int, set: UInt64, masks: UInt32)] = [
                (Int(SIG_BLOCK), bit << 1, 0), (Int(SIG_BLOCK), bit, 1), (Int(SIG_UNBLOCK), bit, 1),
                (Int(SIG_SETMASK), .max, 2), (Int(SIG_SETMASK), 0, 2), (Int(SIG_BLOCK), ~bit, 2),
                (Int(SIG_SETMASK), 0, 2),
            ]
            for step in steps {
                var set = step.set
                #expect(sigmask(step.how, &set, nil) == 0)
                #expect(slots.masks == step.masks)
            }
            var old: UInt64 = 1
            #expect(sigmask(Int(SIG_BLOCK), nil, &old) == 0)
            #expect(old == 0 && slots.masks == 2)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 1) == .refused)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 2) == .ready)
        }
    }

    /// The memory files of ours that this process has open.
    static func memoryFiles() -> Int {
        (0..<256).count { number in
            var target = [CChar](repeating: 0, count: 64)
            return readlink("/proc/self/fd/\(number)", &target, 63) > 0
                && strcmp(target, "/memfd:firstlight (deleted)") == 0
        }
    }

    /// Two threads that execute programs at once: the memory that one makes for its own is not the
    /// other's to close, and none is left.
    @Test func twoThreadsThatExecuteAtOnce() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let execve = try Self.calls(past: mapped).calls[CallSites.Call.execve.index]
            var path = Array("/tmp/firstlight-unexecutable-XXXXXX".utf8CString)
            let file = mkstemp(&path)
            try #require(file >= 0 && write(file, "nothing", 7) == 7 && fchmod(file, 0o755) == 0)
            close(file)
            let before = Self.memoryFiles()
            let address = Int(bitPattern: strdup(path))
            let attempts = Attempts(execve, address)
            #expect(startThread { attempts.make() })
            attempts.make()
            while attempts.made.load(ordering: .sequentiallyConsistent) < 100 { sched_yield() }
            #expect(attempts.refused.load(ordering: .sequentiallyConsistent) == 100)
            unlink(path)
            #expect(Self.memoryFiles() == before)
            #expect(mapped.area.value(\.execution) == UInt32(FL_EXECUTION_NONE))
            #expect(mapped.area[\.next_area] == -1)
        }
    }

    /// Fifty attempts of each thread to execute a file that is no program.
    final class Attempts: Sendable {
        let made = Atomic<Int>(0)
        let refused = Atomic<Int>(0)
        private let execve: @Sendable () -> Int

        init(_ execve: @escaping Call, _ path: Int) {
            let function = unsafeBitCast(execve, to: Int.self)
            self.execve = { unsafeBitCast(function, to: Call.self)(path, nil, nil) }
        }

        func make() {
            for _ in 1...50 {
                if execve() == -Int(ENOEXEC) {
                    refused.wrappingAdd(1, ordering: .sequentiallyConsistent)
                }
                made.wrappingAdd(1, ordering: .sequentiallyConsistent)
            }
        }
    }

    @Test func filtersAreSeenComing() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let prctl = calls[CallSites.Call.prctl.index]
            // PR_GET_DUMPABLE, PR_SET_NO_NEW_PRIVS
            #expect(prctl(3, nil, nil) >= 0)
            #expect(!mapped.area.isFiltered)
            // A child in vfork has our memory, and its filter for itself.
            mapped.setProcess(1)
            #expect(prctl(38, nil, nil) == -Int(EINVAL))
            #expect(!mapped.area.isFiltered)
            mapped.setProcess(UInt32(getpid()))
            #expect(prctl(38, nil, nil) == -Int(EINVAL))
            #expect(mapped.area.isFiltered)
        }
    }

    /// By syscall(2), which may be given any number, and addresses from where nothing can be read.
    @Test func callsByTheirNumber() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            Self.settleWithSpare(mapped)
            let call = try Self.calls(past: mapped).page + 64 * CallSites.Call.syscall.index
            typealias WithSets =
                @convention(c) (Int, Int, UnsafeRawPointer?, UnsafeMutableRawPointer?, Int) -> Int
            func syscall(
                _ number: Int, _ first: Int, _ new: UnsafeRawPointer?,
                _ old: UnsafeMutableRawPointer?
            ) -> Int {
                unsafeBitCast(call, to: WithSets.self)(number, first, new, old, 8)
            }
            #expect(syscall(39, 0, nil, nil) == Int(getpid()))
            let nowhere = UnsafeRawPointer(bitPattern: 8)
            let masks = mapped.area.value(\.masks)
            #expect(syscall(13, Int(Self.signal), nowhere, nil) == -Int(EFAULT))
            #expect(syscall(14, Int(SIG_SETMASK), nowhere, nil) == -Int(EFAULT))
            #expect(!mapped.area.isDisplaced && mapped.area.value(\.masks) == masks)
            var (old, mask) = (Action(), UInt64(0))
            #expect(syscall(13, Int(Self.signal), nil, &old) == 0)
            #expect(old.handler != mapped.address + AgentCode.sampleHandler && old.flags == 0)
            var set = UInt64(1) << UInt64(Self.signal - 1)
            #expect(syscall(14, Int(SIG_SETMASK), &set, nil) == 0)
            #expect(mapped.area.value(\.masks) == masks + 1)
            #expect(syscall(14, Int(SIG_UNBLOCK), &set, &mask) == 0 && mask == set)
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            #expect(syscall(13, Int(Self.signal), &ignored, nil) == 0)
            #expect(mapped.area.isDisplaced && !mapped.area.isFiltered)
            // PR_GET_DUMPABLE; SECCOMP_GET_ACTION_AVAIL
            #expect(syscall(157, 3, nil, nil) >= 0)
            #expect(syscall(317, 2, nil, nil) < 0)
            #expect(!mapped.area.isFiltered)
            // SECCOMP_SET_MODE_FILTER, and none.
            #expect(syscall(317, 1, nil, nil) < 0)
            #expect(mapped.area.isFiltered)
            // Calls that are not permitted any more are not tried.
            #expect(syscall(13, Int(Self.signal), nowhere, nil) == -Int(EFAULT))
            #expect(syscall(14, Int(SIG_SETMASK), nowhere, nil) == -Int(EFAULT))
        }
    }

    /// A forked child inherits the area and the patched calls; its own calls change nothing for its
    /// parent.
    @Test func aChildChangesNothing() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            // Swift hides it, for most cannot be done in such a child.
            let fork = unsafeBitCast(
                try #require(dlsym(nil, "fork")), to: (@convention(c) () -> Int32).self)
            var set = UInt64.max
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            let child = fork()
            if child == 0 {
                _ = calls[CallSites.Call.prctl.index](38, nil, nil)  // PR_SET_NO_NEW_PRIVS
                _ = calls[CallSites.Call.sigmask.index](Int(SIG_SETMASK), &set, nil)
                _ = calls[CallSites.Call.sigaction.index](Int(Self.signal), &ignored, nil)
                _exit(0)
            }
            var status: Int32 = -1
            #expect(waitpid(child, &status, 0) == child && status == 0)
            #expect(!mapped.area.isFiltered && !mapped.area.isDisplaced)
            #expect(mapped.area.value(\.masks) == 0)
        }
    }

    /// Attempts that fail leave nothing behind: no descriptor, no notice.
    @Test func programsThatAreNotExecuted() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let noProgram = try scratch.write("\u{7F}nothing", to: "a")
            let mapped = try MappedAgentMemory()
            mapped.settle()
            let (page, calls) = try Self.calls(past: mapped)
            let execve = calls[CallSites.Call.execve.index]
            let syscall = unsafeBitCast(
                page + 64 * CallSites.Call.syscall.index, to: Numbered.self)
            let ways: [(Int) -> Int] = [
                { execve($0, nil, nil) },
                { syscall(59, $0, 0, 0, 0, 0) },
                { syscall(322, Int(AT_FDCWD), $0, 0, 0, 0) },  // execveat
            ]
            let free = fl_free_descriptor(0)
            for (path, error) in [
                ("/nonexistent", ENOENT), (noProgram, ENOEXEC), ("/", EACCES), ("", ENOENT),
            ] {
                for way in ways {
                    let before = Self.naps()
                    var text = Array(path.utf8CString)
                    let result = text.withUnsafeMutableBytes { bytes in
                        bytes.baseAddress.map { way(Int(bitPattern: $0)) }
                    }
                    #expect(result == -Int(error))
                    #expect(!mapped.area.isAboutToExecute)
                    #expect(mapped.area[\.next_area] == -1)
                    #expect(fl_free_descriptor(0) == free)
                    // The recorder is notified, and given the time to follow.
                    #expect(error != ENOEXEC || Self.naps() - before >= 30)
                }
            }
        }
    }

    /// An attempt that a handler has left by a jump blocks no other: the thread itself takes it
    /// over, and other threads wait for it once. The memory that it has made is closed.
    @Test(arguments: [true, false]) func attemptsThatWereLeft(isOwn: Bool) async {
        await #expect(processExitsWith: .success) { [isOwn = isOwn as Bool] in
            let scratch = try Scratch()
            var text = Array(try scratch.write("\u{7F}nothing", to: "a").utf8CString)
            let mapped = try MappedAgentMemory()
            mapped.settle()
            let (_, calls) = try Self.calls(past: mapped)
            let execve = calls[CallSites.Call.execve.index]
            func attempt() -> Int? {
                text.withUnsafeMutableBytes { bytes in
                    bytes.baseAddress.map { execve(Int(bitPattern: $0), nil, nil) }
                }
            }
            let free = fl_free_descriptor(0)
            let left = fl_make_memory("left", 4096)
            try #require(left >= 0)
            mapped.area.write(
                withUnsafeBytes(of: left) { Array($0) },
                at: Int(FL_STATE) + (MemoryLayout<fl_state>.offset(of: \.next_area) ?? 0))
            mapped.area.set(\.execution, UInt32(FL_EXECUTION_FOLLOWED))
            let own = UInt32(bitPattern: OwnSignposts.thread)
            mapped.area.set(\.executor, isOwn ? own : own ^ 1)
            if !isOwn {
                #expect(attempt() == -Int(ENOEXEC))
                #expect(mapped.area.value(\.executor) == 0)
            }
            let before = Self.naps()
            #expect(attempt() == -Int(ENOEXEC))
            #expect(Self.naps() - before < 90)
            #expect(mapped.area.value(\.executor) == 0)
            #expect(mapped.area.value(\.execution) == UInt32(FL_EXECUTION_NONE))
            #expect(mapped.area[\.next_area] == -1)
            #expect(fl_free_descriptor(0) == free)
        }
    }

    /// A library that makes its calls where ours does.
    @Test func theCLibrarysCallsAreLedPastUs() async {
        await #expect(processExitsWith: .success) {
            let sites = try #require(CallSites.ofOwnLibrary)
            let all = sites.offsets
            let offsets = [all.0, all.1, all.2, all.3, all.4, all.5, all.6, all.7].map { Int($0) }
            let size = (offsets.max() ?? 0) / 4096 * 4096 + 8192
            let descriptor = fl_make_memory("library", size)
            try #require(descriptor >= 0)
            for (name, isLed) in [
                ("/lib/libm.so.6", false), ("/lib/libcurl.so.4", false),
                ("/usr/lib/libc.so.6", true), ("libc-2.31.so", true), ("", false),
            ] {
                let memory = try #require(fl_map_memory(descriptor, size))
                let start = UInt64(UInt(bitPattern: memory))
                for (offset, call) in zip(offsets, CallSites.Call.allCases) {
                    let code = call.code + [0xC3]
                    (memory + offset).copyMemory(from: code, byteCount: 8)
                }
                let words = offsets.map {
                    memory.loadUnaligned(fromByteOffset: $0, as: UInt64.self)
                }
                let mapped = try MappedAgentMemory()
                let linker = MadeLinker()
                mapped.settle {
                    $0.debug = linker.address
                    $0.sites = sites
                    $0.signal = (Self.signal, 0)
                }
                linker.add("")
                linker.set(.adds)
                mapped.tellOfChange()
                linker.add(name, bias: start)
                linker.set(.consistent)
                mapped.tellOfChange()
                let expected = zip(offsets, words).map { (start + UInt64($0), $1) }
                #expect(
                    mapped.area.hookedWords
                        == (isLed ? Dictionary(uniqueKeysWithValues: expected) : [:]))
                // Where none was, the recorder is waited for.
                #expect((mapped.area.time(\.gate_ns) == nil) == isLed)
                for (offset, call) in zip(offsets, CallSites.Call.allCases) {
                    let word = memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    let jump = JumpPatch.word(
                        from: start + UInt64(offset),
                        to: mapped.address + AgentCode.standIn(for: call))
                    #expect((word & 0xFF_FFFF_FFFF == jump) == isLed)
                    #expect(word >> 40 == 0xC3_050F)
                }
                munmap(memory, size)
            }
        }
    }
}
