import CAgent
import Glibc
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// Code and memory that earlier recorders have left in a program.
extension AgentSignalTests {
    /// Another recorder's area is recognised; also whether that recorder is gone.
    @Test func anotherRecordersAreaIsRecognised() async {
        await #expect(processExitsWith: .success) {
            #expect(EarlierAgent.all(in: KernelProcess.ourselves).isEmpty)
            for (recorder, isAbandoned) in [(0, false), (getppid(), false), (Int32.max - 1, true)] {
                let mapped = try MappedAgentMemory()
                mapped.settle { $0.recorder = recorder }
                let unused = try #require(EarlierAgent.all(in: KernelProcess.ourselves).last)
                #expect(unused.start == mapped.address && !unused.isInUse)
                let (page, _) = try Self.calls(past: mapped)
                let found = EarlierAgent.all(in: KernelProcess.ourselves).filter(\.isInUse)
                #expect(found.count == 1 && found.first?.isAbandoned == isAbandoned)
                #expect(found.first?.changes == mapped.area.hookedWords)
                #expect(found.first?.changes.count == Int(FL_SITES))
                munmap(page, 4096)
                #expect(EarlierAgent.all(in: KernelProcess.ourselves).allSatisfy { !$0.isInUse })
            }
            // Not filled in yet, or just about to be: a thread waits for its recorder.
            for isPrepared in [false, true] {
                let made = try MappedAgentMemory()
                let arrival = Int(fl_code_describe().arrival)
                made.area.write(Array(AgentCode.bytes.prefix(arrival)), at: 0)
                if isPrepared { made.area.prepare() }
                for (recorder, isAbandoned) in [
                    (0, false), (getppid(), false), (Int32.max - 1, true),
                ] {
                    made.area.set(\.recorder, UInt32(bitPattern: recorder))
                    let waiting = EarlierAgent.all(in: KernelProcess.ourselves).filter(\.isInUse)
                    #expect(waiting.count == 1 && waiting.first?.recorder == recorder)
                    #expect(waiting.first?.isAbandoned == isAbandoned)
                }
                // A thread that has waited too long has gone on, however much was filled in.
                made.area.set(\.phase, UInt32(FL_PHASE_ABANDONED))
                let left = try #require(EarlierAgent.all(in: KernelProcess.ourselves).last)
                #expect(left.isLeft && left.isQuiet && !left.isInUse && left.isForsaken)
            }
        }
    }
}
