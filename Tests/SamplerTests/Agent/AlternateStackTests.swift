import Architecture
import CAgent
import CSystem
import Glibc
import ProfileModel
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// The alternate stacks for our handler's frames: each test in a process of its own.
extension AgentSignalTests {
    /// Uses them from the beginning, as where the C library's calls were led past the area's code.
    private static func settleWithAlternates(_ mapped: MappedAgentMemory) {
        mapped.settle {
            $0.signal = (signal, 0)
            $0.makesAlternates = true
        } prepare: {
            $0.setReturn(of: .sigaltstack, to: 7, word: 0)
        }
    }

    /// sigaltstack(2), by a call that is led past the area's code.
    private static func alternate(
        _ call: Call, _ wanted: stack_t? = nil
    ) -> (result: Int, former: stack_t) {
        var former = stack_t()
        guard var wanted else { return (call(0, &former, nil), former) }
        return withUnsafeMutablePointer(to: &wanted) { wanted in
            (call(Int(bitPattern: wanted), &former, nil), former)
        }
    }

    private static func made(_ size: Int) -> stack_t {
        stack_t(
            ss_sp: UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16), ss_flags: 0,
            ss_size: size)
    }

    fileprivate static func current() -> stack_t {
        var now = stack_t()
        sigaltstack(nil, &now)
        return now
    }

    @Test func framesGoToAStackOfOurs() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            Self.settleWithAlternates(mapped)
            let area = mapped.area
            #expect(area.hasAlternateStack(OwnSignposts.thread))
            let start = UInt64(UInt(bitPattern: Self.current().ss_sp))
            let size = Int(AlternateStacks.size)
            #expect(Self.current().ss_size == size)
            // Other threads' stacks are not in use.
            #expect(area.unusedAlternates?.lowerBound == start + UInt64(size))
            let memory = TargetMemory(pid: getpid())
            #expect(memory.read(at: start, count: size).allSatisfy { $0 == 0 })
            // The memory below the stack is not accessible.
            #expect(memory.read(at: start - 8, count: 8).isEmpty)
            area.setReturn(of: .sigaction, to: 7, word: 0)
            let slots = SharedSlots(area: area, cookie: Self.cookie)
            let slot = try #require(slots.take())
            let request = slots.request(
                slot, of: OwnSignposts.thread, stack: Self.stack(), limit: 256, masks: 0)
            #expect(request == .ready)
            Self.ask(slots, slot)
            let answer = slots.takeAnswer(slot)
            #expect(!answer.isOnAlternateStack && answer.stack.bytes.count == 256)
            #expect(Self.stack().contains(answer.registers.stackPointer))
            #expect(!memory.read(at: start, count: size).allSatisfy { $0 == 0 })
        }
    }

    @Test func theProgramSeesItsOwnAlternateStacks() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            Self.settleWithAlternates(mapped)
            let area = mapped.area
            let (_, calls) = try Self.calls(past: mapped)
            let call = calls[CallSites.Call.sigaltstack.index]
            let (off, thread) = (Int32(SS_DISABLE), OwnSignposts.thread)
            func expectNone(_ stack: stack_t) {
                #expect(stack.ss_flags == off && stack.ss_size == 0 && stack.ss_sp == nil)
            }
            expectNone(Self.alternate(call).former)
            // By syscall(2), too.
            let numbered = unsafeBitCast(
                calls[CallSites.Call.syscall.index], to: Numbered.self)
            var former = stack_t()
            let result = withUnsafeMutablePointer(to: &former) {
                numbered(131, 0, Int(bitPattern: $0), 0, 0, 0)
            }
            #expect(result == 0)
            expectNone(former)
            #expect(area.hasAlternateStack(thread))
            #expect(Self.flags(of: Self.signal) & 0x0800_0000 != 0)  // SA_ONSTACK
            // Once it makes a call, nothing is sent any more, and a thread that gets the signal
            // from another source stays where it was.
            area.setReturn(of: .sigaction, to: 7, word: 0)
            let slots = SharedSlots(area: area, cookie: Self.cookie)
            let slot = try #require(slots.take())
            #expect(slots.request(slot, of: thread, stack: 0..<0, limit: 64, masks: 0) == .ready)
            slots.cancel(slot)
            let own = Self.made(1 << 16)
            var outcome = Self.alternate(call, own)
            #expect(outcome.result == 0)
            expectNone(outcome.former)
            #expect(!area.hasAlternateStack(thread))
            #expect(slots.request(slot, of: thread, stack: 0..<0, limit: 64, masks: 0) == .refused)
            #expect(Self.outstanding(area) == 0)
            #expect(Self.flags(of: Self.signal) & 0x0800_0000 == 0)
            #expect(Self.current().ss_sp == own.ss_sp)
            // A call that the kernel refuses changes nothing.
            outcome = Self.alternate(call, stack_t(ss_sp: nil, ss_flags: 0, ss_size: 1))
            #expect(outcome.result == -Int(ENOMEM) && Self.current().ss_sp == own.ss_sp)
            outcome = Self.alternate(call, stack_t(ss_sp: nil, ss_flags: off, ss_size: 0))
            #expect(outcome.result == 0 && outcome.former.ss_sp == own.ss_sp)
            expectNone(Self.current())
        }
    }

    /// A handler of the program's that is at work returns to the stack that it began with.
    @Test func oursAreHiddenWhereWeMakeNoCalls() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            Self.settleWithAlternates(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            mapped.area.silence()
            let former = Self.alternate(calls[CallSites.Call.sigaltstack.index]).former
            #expect(former.ss_flags == Int32(SS_DISABLE) && former.ss_sp == nil)
        }
    }

    @Test func threadsGetOneEachAndLeaveItToOthers() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            Self.settleWithAlternates(mapped)
            let area = mapped.area
            area.setReturn(of: .sigaction, to: 7, word: 0)
            let (_, calls) = try Self.calls(past: mapped)
            // There are more such threads than stacks, one after the other.
            for _ in 0..<(3 * Int(FL_MOST_ALTERNATES)) {
                let beginning = Beginning(area, calls[CallSites.Call.thread.index])
                try beginning.run()
                #expect(beginning.result == 0)
                #expect(beginning.hasStack && beginning.kernels != 0)
            }
        }
    }

    /// A thread that begins as the C library's do.
    private final class Beginning {
        private let area: AgentMemory
        private let call: Call
        private(set) var result = -1
        private(set) var hasStack = false
        /// Which alternate stack it has.
        private(set) var kernels: UInt64?

        init(_ area: AgentMemory, _ call: @escaping Call) { (self.area, self.call) = (area, call) }

        private func begin() {
            let list = UnsafeMutableRawPointer.allocate(byteCount: 24, alignment: 8)
            list.initializeMemory(as: UInt8.self, repeating: 0, count: 24)
            result = call(Int(bitPattern: list), UnsafeMutableRawPointer(bitPattern: 24), nil)
            hasStack = area.hasAlternateStack(OwnSignposts.thread)
            kernels = UInt64(UInt(bitPattern: AgentSignalTests.current().ss_sp))
        }

        func run() throws {
            var thread = pthread_t()
            let error = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Beginning>.fromOpaque(argument).takeRetainedValue().begin()
                    return nil
                }, Unmanaged.passRetained(self).toOpaque())
            try #require(error == 0)
            pthread_join(thread, nil)
        }
    }
}
