import Glibc
import ProcessIO

/// The cores' clock frequency.
package enum CoreFrequency {
    private static let files: [String] = (0..<mostCores)
        .map { "/sys/devices/system/cpu/cpu\($0)/cpufreq/scaling_cur_freq" }
        .filter { access($0, R_OK) == 0 }

    /// On a larger machine this many cores are enough.
    private static let mostCores = 64

    /// In kHz; nil: the kernel does not report it, as in most virtual machines.
    package static var mean: Int64? {
        var sum: Int64 = 0
        var count: Int64 = 0
        var buffer = ReadBuffer(capacity: 64)
        for file in files {
            buffer.read(path: file)
            var text = buffer.text
            guard let value = text.decimal(), value > 0, value < 1 << 40 else { continue }
            sum += value
            count += 1
        }
        return count == 0 ? nil : sum / count
    }
}
