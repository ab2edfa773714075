import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension Measured {
    /// On a busy machine wall times tell little, and the summary says to trust CPU time.
    @Suite struct BusyMachine {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Short launches beside loops that keep all cores busy: what a thread waits for a core is no CPU
        /// time of it.
        @Test func cpuIsThePrograms() throws {
            try Truth.of("CPU on a busy machine") { figures in
                let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
                let loops = try (0..<cores).map { _ in
                    try Command(["sh", "-c", "while :; do :; done"]).start()
                }
                defer {
                    for loop in loops {
                        kill(-loop.pid, SIGKILL)
                        _ = try? loop.finish()
                    }
                }
                let told = scratch("own")
                let words = "import time; print(time.process_time_ns(), file=open('\(told)', 'w'))"
                var (least, most) = (Int64.max, Int64.min)
                for _ in 0..<20 {
                    let recorded = try Firstlight.record(
                        ["python3", "-S", "-c", words], in: scratch)
                    let own = Proc.contents(told).flatMap { Int64($0.filter(\.isNumber)) } ?? 0
                    let difference = try recorded.json().launch.cpuNs - own
                    (least, most) = (min(least, difference), max(most, difference))
                }
                // The interpreter ends behind that.
                figures.check(
                    "least of 20, beyond its own clock", least, isIn: -500_000...8_000_000)
                figures.check("most of 20, beyond its own clock", most, isIn: 0...8_000_000)
            }
        }
    }
}
