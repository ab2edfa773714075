package import CAgent
package import ProfileModel

extension fl_frame_list {
    /// nil: our code in the program does not follow lists like that.
    package init?(_ list: FrameListLayout) {
        guard let first = list.record.first, list.record.count <= 2,
            list.caller >= first.offset, list.caller + 8 <= first.offset + first.size,
            list.code >= first.offset, list.code + 8 <= first.offset + first.size,
            list.recordSize % 8 == 0, list.recordSize <= 512, list.identity.size % 8 == 0,
            (8...64).contains(list.identity.size)
        else { return nil }
        let second = list.record.count > 1 ? list.record[1] : FrameListLayout.Part(0, 0)
        func place(_ offset: Int?) -> UInt32 { offset.map { UInt32(clamping: $0) } ?? FL_NOWHERE }
        self.init()
        newest = place(list.newest)
        newest_inside = place(list.newestInside)
        kernel_id = place(list.threadID)
        arena_start = place(list.arena?.start)
        arena_top = place(list.arena?.top)
        caller = place(list.caller - first.offset)
        code = place(list.code - first.offset)
        part_offsets = (place(first.offset), place(second.offset))
        part_sizes = (place(first.size), place(second.size))
        identity_offset = place(list.identity.offset)
        identity_size = place(list.identity.size)
        code_mask = list.codeMask
    }
}

extension RuntimeCopy {
    /// Reads the data that our code in the program has written (struct fl_frames). nil: they are
    /// not valid.
    package init?(_ bytes: [UInt8], of list: FrameListLayout) {
        guard let thread = bytes.littleEndianWord(at: 0), let id = bytes.littleEndianWord(at: 8),
            let newest = bytes.littleEndianWord(at: 16), let rest = bytes.littleEndianWord(at: 24),
            let count = bytes.littleEndianUInt32(at: 32).map(Int.init),
            let identified = bytes.littleEndianUInt32(at: 36).map(Int.init), identified <= count
        else { return nil }
        let each = 8 + list.recordSize
        guard bytes.count == 40 + count * each + identified * list.identity.size else { return nil }
        self.init(
            thread: thread, threadID: list.threadID == nil ? nil : id, newest: newest, rest: rest)
        addresses.reserveCapacity(count)
        records.reserveCapacity(count * list.recordSize)
        for place in stride(from: 40, to: 40 + count * each, by: each) {
            addresses.append(bytes.littleEndianWord(at: place) ?? 0)
            records += bytes[place + 8..<place + each]
        }
        identities = Array(bytes[(40 + count * each)...])
    }
}
