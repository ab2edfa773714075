import Testing

@testable import Doctor
@testable import ProcessIO
@testable import Sampler

@Suite struct ConfinementTests {
    private static func container(_ files: [String: String]) -> String? {
        ConfinementFacts.container(exists: { files[$0] != nil }, read: { files[$0] ?? "" })
    }

    @Test func containersByTheirTraces() {
        #expect(Self.container([:]) == nil)
        #expect(Self.container(["/.dockerenv": ""]) == "Docker")
        #expect(Self.container(["/run/.containerenv": "", "/.dockerenv": ""]) == "Podman")
        #expect(Self.container(["/run/systemd/container": "lxc\n"]) == "lxc")
        #expect(Self.container(["/run/systemd/container": "\n"]) == nil)
        #expect(Self.container(["/proc/1/cgroup": "0::/init.scope\n"]) == nil)
        #expect(Self.container(["/proc/1/cgroup": "9:pids:/docker/abc\n"]) == "Docker")
        #expect(Self.container(["/proc/1/cgroup": "1:cpu:/kubepods/x\n"]) == "Kubernetes")
        let long = String(repeating: "x", count: 4000)
        #expect(Self.container(["/run/systemd/container": long])?.count == 40)
    }

    @Test func nestedNamespaces() {
        #expect(ConfinementFacts.depth(status: text("Name:\ta\nNSpid:\t12\n")) == 1)
        #expect(ConfinementFacts.depth(status: text("NSpid:\t12\t3\t1\nNSpgid:\t5\n")) == 3)
        #expect(ConfinementFacts.depth(status: text("NSpid:\n")) == 1)
        #expect(ConfinementFacts.depth(status: text("")) == 1)
    }

    @Test func filters() {
        #expect(ConfinementFacts.filters(status: text("Seccomp:\t0\nSeccomp_filters:\t0\n")) == 0)
        #expect(ConfinementFacts.filters(status: text("Seccomp:\t2\nSeccomp_filters:\t3\n")) == 3)
        #expect(ConfinementFacts.filters(status: text("Seccomp:\t2\n")) == 1)
    }

    /// The kernel names what a thread has; where it knows of nothing, there is no such line.
    @Test(arguments: [
        ("", false), ("x86_Thread_features:\t\n", false),
        ("x86_Thread_features:\tshstk \n", true), ("x86_Thread_features:\twrss shstk\n", true),
        ("x86_Thread_features_locked:\tshstk wrss\n", false),
        ("x86_Thread_features:\t\nx86_Thread_features_locked:\tshstk \n", false),
    ])
    func shadowStacks(features: String, hasOne: Bool) throws {
        let lines = """
            NSpid:\t12
            SigBlk:\t0
            SigIgn:\t0
            SigCgt:\t0
            Seccomp:\t0
            voluntary_ctxt_switches:\t0
            nonvoluntary_ctxt_switches:\t0

            """
        let status = try #require(ProcessStatus(text(lines + features)))
        #expect(status.hasShadowStack == hasOne && status.innerPID == 12)
    }

    /// Before Linux 5.9 it is not told how many filters there are.
    @Test(arguments: [("0", false), ("1", true), ("2", true)])
    func filtersThatAreNotCounted(mode: String, isFiltered: Bool) throws {
        let switches = "voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n"
        let status = try #require(
            ThreadStatus(text("SigBlk:\t0\nSeccomp:\t\(mode)\n" + switches)))
        #expect(status.isFiltered(beyond: 0) == isFiltered)
        let counted = try #require(
            ThreadStatus(text("SigBlk:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n" + switches)))
        #expect(counted.isFiltered(beyond: 0) && !counted.isFiltered(beyond: 1))
        #expect(ConfinementFacts.filters(status: text("")) == 0)
    }
}
