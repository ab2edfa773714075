package import ProfileModel

extension FrameListLayout {
    /// Where in a record that is which lies `offset` bytes into a frame; nil: it is not copied.
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

    /// How far into a thread's state we read.
    var stateSize: Int {
        ([newest, threadID, arena?.start, arena?.top].compactMap { $0 }.max() ?? 0) + 8
    }

    /// How far into a frame we read.
    var frameSize: Int { record.map { $0.offset + $0.size }.max() ?? 0 }

    /// What was made here from tables and the process's own words is small.
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

    /// Where its code is.
    var code: UInt64? { word(layout.code).map { $0 & layout.codeMask } }
    /// Where its caller's frame is; 0: it has none.
    var caller: UInt64? { word(layout.caller) }
}

extension RuntimeCopy {
    /// How many frames are there with all that belongs to them.
    func completeCount(_ layout: FrameListLayout) -> Int {
        min(
            addresses.count, records.count / max(1, layout.recordSize),
            identities.count / max(1, layout.identity.size))
    }

    /// How many of the oldest frames of two copies are alike in all that was copied.
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

    /// Whether the codes of all frames are known.
    package func isIdentified(_ layout: FrameListLayout) -> Bool {
        records.count == addresses.count * layout.recordSize
            && identities.count == addresses.count * layout.identity.size
    }

    /// nil: there are fewer.
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
    /// How many of the last bytes of both are the same: whole words of eight.
    fileprivate func commonEnd(_ other: [Element]) -> Int {
        // Unsafe code: what is read lies before the end of both, and not before their begins.
        withUnsafeBytes { own in
            other.withUnsafeBytes { others in
                let most = Swift.min(own.count, others.count)
                var common = 0
                while common + 8 <= most,
                    own.loadUnaligned(fromByteOffset: own.count - common - 8, as: UInt64.self)
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
