import Glibc
package import ProfileModel
import System

extension MeasuredMachine {
    /// This machine, as far as known.
    static var here: MeasuredMachine {
        var names = utsname()
        uname(&names)
        return MachineFacts(
            host: text(of: names.nodename), kernel: text(of: names.release),
            architecture: text(of: names.machine),
            cpuInfo: file("/proc/cpuinfo"), memoryInfo: file("/proc/meminfo"),
            status: file("/proc/self/status"),
            governor: file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            boot: file("/proc/sys/kernel/random/boot_id")
        ).machine
    }

    /// Its name (`uname -n`).
    static var hostName: String {
        var names = utsname()
        uname(&names)
        return text(of: names.nodename)
    }

    /// A field of `utsname`.
    private static func text<Field>(of field: Field) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// At most the first 64 KiB; empty: there is no such file.
    private static func file(_ path: String) -> String {
        let bytes = try? WholeFile.beginning(of: path, count: 65_536)
        return String(decoding: bytes ?? [], as: UTF8.self)
    }
}

/// A machine's facts, from the kernel's files. Pure.
package struct MachineFacts: Hashable, Sendable {
    package var host: String
    package var kernel: String
    package var architecture: String
    /// Of `/proc/cpuinfo`.
    package var cpuInfo: String
    /// Of `/proc/meminfo`.
    package var memoryInfo: String
    /// Of `/proc/self/status`.
    package var status: String
    /// Of cpufreq; empty: there is none.
    package var governor: String
    package var boot: String

    package init(
        host: String, kernel: String, architecture: String, cpuInfo: String, memoryInfo: String,
        status: String, governor: String, boot: String
    ) {
        self.host = host
        self.kernel = kernel
        self.architecture = architecture
        self.cpuInfo = cpuInfo
        self.memoryInfo = memoryInfo
        self.status = status
        self.governor = governor
        self.boot = boot
    }

    package var machine: MeasuredMachine {
        MeasuredMachine(
            host: host, kernel: kernel, architecture: architecture,
            processor: Self.value(of: "model name", in: cpuInfo) ?? "unknown", cores: cores,
            memory: memory, governor: Self.known(governor), boot: Self.known(boot))
    }

    /// The number of cores that we may use, from a mask of 32-bit groups; at least 1.
    private var cores: Int {
        let mask = Self.value(of: "Cpus_allowed", in: status) ?? ""
        return max(1, mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) })
    }

    /// "MemTotal:       16384 kB"
    private var memory: Int64 {
        let value = Self.value(of: "MemTotal", in: memoryInfo) ?? ""
        let (bytes, overflow) = (Int64(value.prefix { $0.isNumber }) ?? 0)
            .multipliedReportingOverflow(by: 1024)
        return overflow ? 0 : bytes
    }

    private static func value(of name: String, in text: String) -> String? {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]) == name else { continue }
            return trimmed(parts[1])
        }
        return nil
    }

    private static func known(_ text: String) -> String? {
        let text = trimmed(text[...])
        return text.isEmpty ? nil : text
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
