import ProfileCLI
import ProfileModel
import Testing

@Suite struct MachineFactsTests {
    private func facts(
        cpu: String = "", memory: String = "", status: String = "", governor: String = "",
        boot: String = ""
    ) -> MeasuredMachine {
        MachineFacts(
            host: "h", kernel: "6.18", architecture: "x86_64", cpuInfo: cpu, memoryInfo: memory,
            status: status, governor: governor, boot: boot
        ).machine
    }

    @Test func aMachine() {
        let machine = facts(
            cpu: "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz: fast\nmodel name\t: other\n",
            memory: "MemFree: 1 kB\nMemTotal:       16384 kB\n",
            status: "Name:\tx\nCpus_allowed:\t3,0000000f\nCpus_allowed_list:\t0-3\n",
            governor: "performance\n", boot: "ab-cd\n")
        #expect(machine.host == "h" && machine.kernel == "6.18" && machine.architecture == "x86_64")
        #expect(machine.processor == "Some CPU @ 2.00GHz: fast")
        #expect(machine.memory == 16_777_216)
        #expect(machine.cores == 6)
        #expect(machine.governor == "performance")
        #expect(machine.boot == "ab-cd")
    }

    /// Nothing is invented where the kernel says nothing.
    @Test func nothingKnown() {
        let machine = facts()
        #expect(machine.processor == "unknown" && machine.memory == 0 && machine.cores == 1)
        #expect(machine.governor == nil && machine.boot == nil)
    }

    @Test(arguments: [
        "MemTotal: x kB", "MemTotal:", "MemTotal: 99999999999999999999 kB",
        "MemTotal: 9223372036854775807 kB", "MemTotal: -5 kB",
    ])
    func oddMemory(text: String) { #expect(facts(memory: text).memory == 0) }

    @Test func oddMask() {
        #expect(facts(status: "Cpus_allowed: zz,-").cores == 1)
        #expect(facts(status: "Cpus_allowed:\tff,ffffffff").cores == 40)
    }
}
