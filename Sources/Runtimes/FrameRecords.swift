package import ProfileModel

extension FrameListLayout {
    /// The position in a record of the value `offset` bytes into a frame; nil: it is not copied.
    func place(of offset: Int, size: Int) -> Int? {
        var begin = 0
        for part in record {
            if offset >= part.offset, offset &+ size <= part.offset &+ part.size {
                return begin + offset - part.offset
            }
            begin += part.size
        }
        return nil
    }

    /// How many bytes of a thread's state are read.
    var stateSize: Int {
        ([newest, threadID, arena?.start, arena?.top].compactMap { $0 }.max() ?? 0) + 8
    }

    /// How many bytes of a frame are read.
    var frameSize: Int { record.map { $0.offset + $0.size }.max() ?? 0 }

    /// True if the layout, made from tables and the process's own words, is small.
    package var isSane: Bool {
        let parts = record + [identity]
        return (1...2).contains(record.count)
            && parts.allSatisfy { 0...4096 ~= $0.offset && 8...512 ~= $0.size }
            && [newest, newestInside, threadID, arena?.start, arena?.top].allSatisfy {
                $0.map { 0...8192 ~= $0 } ?? true
            }
            && place(of: caller, size: 8) != nil && place(of: code, size: 8) != nil
    }
}

/// One frame of a copy.
struct FrameRecord {
    let layout: FrameListLayout
    let address: UInt64
    /// ``FrameListLayout/recordSize`` bytes.
    let bytes: ArraySlice<UInt8>

    func word(_ offset: Int) -> UInt64? {
        layout.place(of: offset, size: 8).flatMap { bytes.littleEndian(at: $0) }
    }

    func int32(_ offset: Int) -> Int32? {
        layout.place(of: offset, size: 4).flatMap { bytes.littleEndian(at: $0) }
    }

    func byte(_ offset: Int) -> UInt8? {
        layout.place(of: offset, size: 1).flatMap { bytes.littleEndian(at: $0) }
    }

    /// The address of its code.
    var code: UInt64? { word(layout.code).map { $0 & layout.codeMask } }
    /// The address of its caller's frame; 0: it has none.
    var caller: UInt64? { word(layout.caller) }
}

extension RuntimeCopy {
    /// The number of frames that were copied completely.
    func completeCount(_ layout: FrameListLayout) -> Int {
        min(
            addresses.count, records.count / max(1, layout.recordSize),
            identities.count / max(1, layout.identity.size))
    }

    /// How many of the oldest frames are the same in two copies.
    package func commonOldest(_ other: RuntimeCopy, _ layout: FrameListLayout) -> Int {
        guard thread == other.thread, rest == other.rest, isIdentified(layout),
            other.isIdentified(layout)
        else { return 0 }
        let (record, identity) = (layout.recordSize, layout.identity.size)
        return min(
            addresses.commonEnd(other.addresses) / 8,
            records.commonEnd(other.records) / max(1, record),
            identities.commonEnd(other.identities) / max(1, identity))
    }

    /// True if the codes of all frames are known.
    package func isIdentified(_ layout: FrameListLayout) -> Bool {
        records.count == addresses.count * layout.recordSize
            && identities.count == addresses.count * layout.identity.size
    }

    /// nil: there are fewer frames.
    func record(_ index: Int, _ layout: FrameListLayout) -> FrameRecord? {
        let size = layout.recordSize
        guard addresses.indices.contains(index), index < records.count / max(1, size) else {
            return nil
        }
        return FrameRecord(
            layout: layout, address: addresses[index],
            bytes: records[(index * size)..<(index * size + size)])
    }
}

extension Array where Element: BitwiseCopyable {
    /// How many bytes at the end of both are equal, in whole words of eight.
    fileprivate func commonEnd(_ other: [Element]) -> Int {
        // Unsafe code: reads stay within both arrays.
        unsafe withUnsafeBytes { own in
            unsafe other.withUnsafeBytes { others in
                let most = Swift.min(own.count, others.count)
                var common = 0
                while common + 8 <= most,
                    unsafe own.loadUnaligned(
                        fromByteOffset: own.count - common - 8, as: UInt64.self)
                        == others.loadUnaligned(
                            fromByteOffset: others.count - common - 8, as: UInt64.self)
                {
                    common += 8
                }
                return common
            }
        }
    }
}
