import Architecture
import Glibc
import ProfileModel
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct ProcFormatsTests {
    @Test func schedulerCounters() {
        let counters = SchedulerCounters(text(ProcSamples.schedstat))
        #expect(counters == SchedulerCounters(run: 750379, delay: 73540, timeslices: 2))
        #expect(SchedulerCounters(text("")) == nil)
        #expect(SchedulerCounters(text("1 2\n")) == nil)
    }

    /// The ids in each namespace, and the user for files, come last.
    @Test func idsInAContainer() throws {
        let status = text("Name:\ta\nUid:\t1000\t0\t0\t100000\nNSpid:\t4711\t12\t1\nNSpgid:\t9\n")
        let ids = try #require(InnerIDs(status: status))
        #expect(ids.pid == 1 && ids.user == 100_000)
        #expect(ProcFormats.ids(inStatus: status) == [4711, 12, 1])
        #expect(InnerIDs(status: text("NSpid:\t1\n")) == nil)
        #expect(InnerIDs(status: text("")) == nil)
        #expect(InnerIDs(of: getpid())?.pid == getpid())
    }

    /// Of our own process, ids are ours.
    @Test func idsOfOurNamespace() {
        let names = InnerNames(pid: getpid())
        #expect(names.own == getpid() && names.thread(getpid()) == getpid())
        #expect(names.child(12) == 12)
    }

    @Test func aThreadOnItsCore() {
        guard case .running = ThreadActivity(text(ProcSamples.syscallRunning)) else {
            Issue.record("not running")
            return
        }
    }

    @Test func aThreadInASystemCall() {
        guard
            case .blocked(let call, let registers) = ThreadActivity(
                text(ProcSamples.syscallBlocked))
        else {
            Issue.record("not blocked")
            return
        }
        #expect(call == 0)
        #expect(registers.stackPointer == 0x7FFF_3ABF_2168)
        #expect(registers.programCounter == 0x7F9C_9E46_D2AD)
        // The call's arguments, by the registers that carry them: rdi rsi rdx r10 r8 r9.
        #expect(
            [5, 4, 1, 10, 8, 9].map { registers[$0] } == [
                3, 0x7F9C_9E2F_1000, 0x20000, 0x7F9C_9E38_4B60, 0xFFFF_FFFF, 0,
            ])
        // Unknown: among them rbp, and rax, which would say that the thread is new.
        #expect([0, 2, 3, 6, 11, 12, 13, 14, 15].allSatisfy { registers[$0] == nil })
    }

    @Test func aThreadBlockedOutsideASystemCall() {
        guard
            case .blocked(let call, let registers) = ThreadActivity(
                text(ProcSamples.syscallOutside))
        else {
            Issue.record("not blocked")
            return
        }
        #expect(call == -1)
        #expect(registers.stackPointer == 0x7FFD_7B3C_F370)
        #expect(registers.programCounter == 0x55A1_BD0D_8163)
        #expect(registers[5] == nil)
    }

    @Test(arguments: ["", "x", "99999999999 0x1 0x2", "0 0x3 0x7f", "-1", "-1 0x7", "202"])
    func incompleteActivityIsNone(string: String) {
        #expect(ThreadActivity(text(string)) == nil)
    }

    @Test func aNameWithBracketsAndSpaces() {
        let stat = ProcessStat(text(ProcSamples.stat))
        #expect(stat?.state == UInt8(ascii: "S"))
        #expect(stat?.minorFaults == 102)
        #expect(stat?.majorFaults == 3 && stat?.startTicks == 392_387)
        #expect(stat?.isZombie == false && stat?.isKernelThread == false)
        // A name may end a line, too.
        let broken = ProcessStat(text(ProcSamples.stat.replacing("(a) R (b)", with: "(x\ny)")))
        #expect(broken == stat)
    }

    @Test func kernelThreadsAndZombies() {
        #expect(ProcessStat(text(ProcSamples.kernelThread))?.isKernelThread == true)
        for (state, isZombie) in [("Z", true), ("X", true), ("R", false), ("t", false)] {
            let stat = text(ProcSamples.stat.replacing("(b) S", with: "(b) \(state)"))
            #expect(ProcessStat(stat)?.isZombie == isZombie)
        }
    }

    @Test func endsOfZombies() throws {
        let line = ProcSamples.stat.replacing("(b) S", with: "(b) Z")
        #expect(ProcFormats.endStatus(inStat: text(ProcSamples.stat)) == nil)
        // Behind the name, which may hold spaces, comes the third field; the last one is the 52nd.
        let name = try #require(line.lastIndex(of: ")"))
        let rest = line[line.index(after: name)...].split { $0 == " " || $0 == "\n" }
        var words = [String(line[...name])]
        words += (0..<49).map { $0 < rest.count ? String(rest[$0]) : "0" } + ["1792\n"]
        #expect(ProcFormats.endStatus(inStat: text(words.joined(separator: " "))) == 1792)
        let short = words.dropLast().joined(separator: " ")
        #expect(ProcFormats.endStatus(inStat: text(short)) == nil)
    }

    @Test(arguments: [
        "", "1 (x)", "1 (x) S 1 2", "1 x S 1 1 1 0 -1 2 3 4 5", "1 (x) S 1 1 1 0 -1 2 3 4",
    ])
    func incompleteStatIsNone(string: String) {
        #expect(ProcessStat(text(string)) == nil)
    }

    /// Names may hold what surrounds them.
    @Test(arguments: ["cat", "a) R (b", "a\nb\\c) (d", "", "  "])
    func names(name: String) {
        #expect(ProcFormats.name(inStat: text("17 (\(name)) S 1 2 -3\n")) == name)
        let comm = ProcFormats.name(inComm: text(name + "\n"))
        #expect(comm == (name.isEmpty ? nil : name))
    }

    /// The 39th field.
    @Test func coreOfAThread() {
        let fields = (3...52).map { $0 == 3 ? "S" : String($0) }.joined(separator: " ")
        #expect(ProcFormats.core(inStat: text("17 (a) R (b) \(fields)\n")) == 39)
        #expect(ProcFormats.core(inStat: text(ProcSamples.stat)) == 0)
        #expect(ProcFormats.core(inStat: text("17 (a) S 1 2")) == nil)
    }

    @Test(arguments: ["", "17 name S 1", "17 (name", "17 name) S"])
    func noName(string: String) {
        #expect(ProcFormats.name(inStat: text(string)) == nil)
        #expect(ProcFormats.name(inComm: text(string)) == nil)
    }

    @Test func linesOfStatusAndIO() {
        let status = text(ProcSamples.status)
        #expect(ProcFormats.field("Uid:", status) == 1000)
        #expect(ProcFormats.field("TracerPid:", status) == 0)
        #expect(ProcFormats.field("VmLib:", status) == 1528)
        #expect(ProcFormats.field("voluntary_ctxt_switches:", status) == 17)
        #expect(ProcFormats.field("nonvoluntary_ctxt_switches:", status) == 4)
        #expect(ProcFormats.field("Threads:", status) == nil)
        #expect(ProcFormats.mask("SigIgn:", status) == 0x1010)
        #expect(ProcFormats.mask("SigBlk:", status) == 0x10000)
        #expect(ProcFormats.mask("SigCgt:", status) == nil)
        #expect(ProcFormats.field("read_bytes:", text(ProcSamples.io)) == 4096)
        #expect(ProcFormats.field("read_bytes:", text("")) == nil)
    }

    @Test func schedulingClasses() {
        func line(nice: String, realTime: String, policy: String) -> ProcText {
            let before = "123 (a) b) S 1 1 1 0 -1 4194304 10 0 0 0 5 6 0 0 20 \(nice) 1 0 99 1000"
            return text(
                before + " 50 18446744073709551615 1 2 3 0 0 0 0 4096 0 0 0 0 17 1 \(realTime) "
                    + "\(policy) 0 0 0\n")
        }
        #expect(
            SchedulingClass(line(nice: "0", realTime: "0", policy: "0"))
                == SchedulingClass(policy: 0, nice: 0, realTime: 0))
        #expect(
            SchedulingClass(line(nice: "-20", realTime: "0", policy: "3"))
                == SchedulingClass(policy: 3, nice: -20, realTime: 0))
        #expect(
            SchedulingClass(line(nice: "0", realTime: "50", policy: "1"))
                == SchedulingClass(policy: 1, nice: 0, realTime: 50))
        #expect(SchedulingClass(line(nice: "x", realTime: "0", policy: "0")) == nil)
        #expect(SchedulingClass(line(nice: "99999999999", realTime: "0", policy: "0")) == nil)
        #expect(SchedulingClass(text("123 (a) S 1 2 3")) == nil)
        #expect(SchedulingClass(text("")) == nil)
    }
}
