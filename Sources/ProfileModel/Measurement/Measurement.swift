/// Many launches, without stacks, of one program or of two that take turns: the content of a
/// measurement's file, and the basis of every statistic.
package struct Measurement: Hashable, Sendable {
    package var header: Header
    /// One or two: the first is compared with the second.
    package var arms: [MeasuredArm]
    package var conditions: MeasuredConditions
    package var machine: MeasuredMachine
    /// All launches, including those that do not count: in their order, or, if launches ran side by
    /// side (`watch`), in the order of their ends.
    package var launches: [MeasuredLaunch]

    package init(
        header: Header, arms: [MeasuredArm], conditions: MeasuredConditions,
        machine: MeasuredMachine
    ) {
        self.header = header
        self.arms = arms
        self.conditions = conditions
        self.machine = machine
        launches = []
    }

    package struct Header: Hashable, Sendable {
        /// How many launches of each arm should count.
        package var requested: Int
        /// The user's name for the version of the programs.
        package var versionName: String?
        /// The version of firstlight, e.g. "0.1.0".
        package var recorderVersion: String
        /// When the measurement began, in nanoseconds since 1970 UTC.
        package var date: Int64
        package var ending = Ending.unknown

        package init(
            requested: Int, versionName: String? = nil, recorderVersion: String, date: Int64
        ) {
            self.requested = requested
            self.versionName = versionName
            self.recorderVersion = recorderVersion
            self.date = date
        }
    }

    /// Why there are no more launches. The raw values are stored.
    package enum Ending: String, Sendable, CaseIterable {
        /// The requested number of launches counts.
        case complete
        /// By the user (Ctrl-C).
        case interrupted
        /// The request cannot be met: no launch was cold, or too many failed.
        case gaveUp = "gave_up"
        /// The measurement was cut short (it was killed, the disk is full).
        case unknown
    }
}

/// A program to launch.
package struct MeasuredArm: Hashable, Sendable {
    /// The program's name or path as given, and its arguments; at least the name.
    package var command: [String]
    /// Where the program was found.
    package var path: String

    package init(command: [String], path: String) {
        self.command = command
        self.path = path
    }

    /// The last part of the program's path.
    package var name: Substring { path.split(separator: "/").last ?? "" }
}

/// The conditions under which every launch of a measurement is made.
package struct MeasuredConditions: Hashable, Sendable {
    /// The content of the page cache, as far as the program's files are concerned.
    package enum Cache: String, Sendable, CaseIterable {
        /// Everything that the previous launch left there.
        case warm
        /// None of the files that a launch uses.
        case cold
        /// None of the copies that replace these files in the launch.
        case coldCopies = "cold_copies"
        /// Nothing at all.
        case coldAll = "cold_all"
    }

    package var cache: Cache
    /// The user's name for the network: "3G", "airplane"; nil: the machine's own network.
    package var network: String?
    /// The limit for reading from disks, in bytes per second; nil: no limit.
    package var diskRate: Int64?
    /// What ends a launch, in the words of `--until`; empty: the program's end.
    package var until: [String]

    package init(
        cache: Cache = .warm, network: String? = nil, diskRate: Int64? = nil, until: [String] = []
    ) {
        self.cache = cache
        self.network = network
        self.diskRate = diskRate
        self.until = until
    }
}

/// The machine to which the figures apply: figures of another machine, boot or kernel are not
/// compared.
package struct MeasuredMachine: Hashable, Sendable {
    /// `uname -n`, `-r` and `-m`.
    package var host: String
    package var kernel: String
    package var architecture: String
    /// The processor's name, as the kernel tells it.
    package var processor: String
    /// How many cores may be used.
    package var cores: Int
    /// In bytes.
    package var memory: Int64
    /// How frequencies are chosen (cpufreq); nil: unknown, as in most virtual machines.
    package var governor: String?
    /// The id of this boot (`/proc/sys/kernel/random/boot_id`); nil: unknown.
    package var boot: String?

    package init(
        host: String, kernel: String, architecture: String, processor: String, cores: Int,
        memory: Int64, governor: String? = nil, boot: String? = nil
    ) {
        self.host = host
        self.kernel = kernel
        self.architecture = architecture
        self.processor = processor
        self.cores = cores
        self.memory = memory
        self.governor = governor
        self.boot = boot
    }
}
