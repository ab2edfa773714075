package import ProfileModel

/// An event of the kernel's process connector about a process or thread (`cn_proc.h` of the kernel
/// defines the format).
package struct ProcessEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The kernel confirms that we listen.
        case listening
        case processBegan(pid: Int32, parent: Int32)
        case threadBegan(process: Int32, tid: Int32)
        case executed(pid: Int32)
        /// `code` is a wait(2) status.
        case threadEnded(process: Int32, tid: Int32, code: Int32)
        /// A change of user, session or name.
        case other
    }

    package var kind: Kind
    package var time: MonotonicTime
}

extension ProcessEvent {
    private static let headerSize = 16
    private static let messageSize = 20
    private static let dataOffset = headerSize + messageSize + 16

    /// The event in one netlink message; nil: it holds no complete one.
    package init?(_ bytes: ArraySlice<UInt8>) {
        let fields = KernelFields(bytes)
        guard let length = fields.number(at: 0, as: UInt32.self), Int(length) <= bytes.count,
            fields.number(at: Self.headerSize, as: UInt32.self) == 1,
            fields.number(at: Self.headerSize + 4, as: UInt32.self) == 1
        else { return nil }
        let event = Self.headerSize + Self.messageSize
        guard let what = fields.number(at: event, as: UInt32.self),
            let time = fields.number(at: event + 8, as: Int64.self),
            let kind = Self.kind(what, fields)
        else { return nil }
        self.init(kind: kind, time: MonotonicTime(nanoseconds: time))
    }

    /// nil: the event is cut short, or has invalid ids.
    private static func kind(_ what: UInt32, _ fields: KernelFields) -> Kind? {
        func word(_ index: Int) -> Int32? {
            fields.number(at: dataOffset + 4 * index, as: Int32.self)
        }
        func id(_ index: Int) -> Int32? { word(index).flatMap { $0 > 0 ? $0 : nil } }
        switch what {
        case 0: return .listening
        case 1:
            guard let tid = id(2), let pid = id(3) else { return nil }
            // A process that the kernel started may have no parent.
            return tid == pid
                ? .processBegan(pid: pid, parent: word(1) ?? 0)
                : .threadBegan(process: pid, tid: tid)
        case 2: return id(1).map { .executed(pid: $0) }
        case 0x8000_0000:
            guard let tid = id(0), let pid = id(1), let code = word(2) else { return nil }
            return .threadEnded(process: pid, tid: tid, code: code)
        default: return .other
        }
    }
}

/// Numbers in the kernel's bytes; nil if they lie outside.
package struct KernelFields {
    private let bytes: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    package func number<Value: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Value.Type
    ) -> Value? {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<Value>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
