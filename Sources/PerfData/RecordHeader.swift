/// A record in the file.
struct RawRecord {
    var type: UInt32
    var misc: UInt16
    /// The content after the header of eight bytes.
    var body: ByteReader
    /// The record's offset in the file.
    var offset: UInt64

    static let headerSize = 8

    /// `PERF_RECORD_MISC_CPUMODE_KERNEL`.
    var isKernel: Bool { misc & 7 == 1 }

    func has(_ flag: UInt16) -> Bool { misc & flag != 0 }
}

/// The numbers of the records that we use (linux/perf_event.h and perf's own).
enum RecordType {
    static let mmap: UInt32 = 1
    static let lost: UInt32 = 2
    static let comm: UInt32 = 3
    static let exit: UInt32 = 4
    static let throttle: UInt32 = 5
    static let fork: UInt32 = 7
    static let sample: UInt32 = 9
    static let mmap2: UInt32 = 10
    static let lostSamples: UInt32 = 13
    static let contextSwitch: UInt32 = 14
    static let contextSwitchOfCore: UInt32 = 15
    static let attribute: UInt32 = 64
    static let tracingData: UInt32 = 66
    static let buildID: UInt32 = 67
    static let finishedRound: UInt32 = 68
    static let auxiliaryTrace: UInt32 = 71
    static let eventUpdate: UInt32 = 78
    static let feature: UInt32 = 80
    static let compressed: UInt32 = 81
    static let compressedWithSize: UInt32 = 83
}

/// `PERF_RECORD_MISC_…`; their meaning depends on the record.
enum RecordFlag {
    static let mappingOfData: UInt16 = 1 << 13
    static let mappingHasBuildID: UInt16 = 1 << 14
    static let exec: UInt16 = 1 << 13
    static let switchOut: UInt16 = 1 << 13
    static let switchOutPushed: UInt16 = 1 << 14
    static let buildIDHasSize: UInt16 = 1 << 15
}
