import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct TracepointFormatTests {
    /// As Linux 6.18 has them.
    static let switching = """
        name: sched_switch
        ID: 372
        format:
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
        \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
        \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
        \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
        \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
        \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;

        print fmt: "prev_comm=%s prev_pid=%d", REC->prev_comm, REC->prev_pid
        """
    static let waking = """
        name: sched_waking
        ID: 375
        format:
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
        \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
        \tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
        """

    @Test func fieldsAreFound() throws {
        let format = try #require(TracepointFormat(Self.switching))
        #expect(format.id == 372)
        #expect(format["prev_pid"] == TracepointFormat.Field(offset: 24, size: 4))
        #expect(format["prev_state"] == TracepointFormat.Field(offset: 32, size: 8))
        #expect(format["common_flags"] == TracepointFormat.Field(offset: 2, size: 1))
        // Neither texts nor missing fields.
        #expect(format["prev_comm[16]"] == nil && format["prev_comm"] == nil)
        #expect(format["pid"] == nil)
    }

    @Test(arguments: [
        "", "ID: 70000", "ID: -1", "ID: x\n\tfield:int pid;\toffset:4;\tsize:4;",
        "\tfield:int pid;\toffset:4;\tsize:4;\tsigned:1;",
    ]) func withoutANumberThereIsNone(text: String) {
        #expect(TracepointFormat(text) == nil)
    }

    @Test(arguments: [
        "field:int pid;\toffset:-4;\tsize:4;", "field:int pid;\toffset:4097;\tsize:4;",
        "field:int pid;\toffset:4;\tsize:3;", "field:int pid;\toffset:4;\tsize:0;",
        "field:int pid;\tsize:4;\toffset:4;", "field:int pid;\toffset:4;", "field:;;",
        "field:int pid;\toffset:99999999999999999999;\tsize:4;", "int pid;\toffset:4;\tsize:4;",
    ]) func invalidFieldsAreLeftOut(line: String) throws {
        let format = try #require(TracepointFormat("ID: 7\nformat:\n\t\(line)\n"))
        #expect(format["pid"] == nil)
    }

    @Test func neededFieldsMustBeThere() throws {
        let switching = try #require(TracepointFormat(Self.switching))
        let waking = try #require(TracepointFormat(Self.waking))
        #expect(SchedulerTracepoints(switching: switching, waking: waking) != nil)
        #expect(SchedulerTracepoints(switching: waking, waking: waking) == nil)
        #expect(SchedulerTracepoints(switching: switching, waking: switching) == nil)
    }

    @Test func requestedTracepoints() throws {
        let switching = try #require(TracepointFormat(Self.switching))
        let waking = try #require(TracepointFormat(Self.waking))
        let points = try #require(SchedulerTracepoints(switching: switching, waking: waking))
        let requests = points.requests(from: 77)
        #expect(requests.map(\.id) == [372, 375])
        #expect(requests.map(\.filter) == ["prev_pid >= 77 && prev_state & 8", "pid >= 77"])
    }

    @Test(arguments: 1...200) func damagedTextsDoNoHarm(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let damaged = random.mutated(Array(Self.switching.utf8))
        _ = TracepointFormat(String(decoding: damaged, as: UTF8.self))
    }
}
