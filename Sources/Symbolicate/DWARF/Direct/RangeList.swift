internal import CElfutils
internal import ELF

extension UnitReader {
    /// Calls `body` with each address range of an entry, if it starts in `code` and is not empty.
    /// - Parameter budget: the number of list entries that may still be read.
    @inline(__always)
    func forEachRange(
        low: AttributeValue, high: AttributeValue, list: AttributeValue, within code: Range<UInt64>,
        budget: inout Int, _ body: (Range<UInt64>) -> Void
    ) {
        if low.isThere, high.isThere {
            guard let start = address(low), code.contains(start),
                let end = end(high, from: start), start < end
            else { return }
            body(start..<end)
        } else if list.isThere {
            forEachListed(list, &budget) { start, end in
                if start < end, code.contains(start) { body(start..<end) }
            }
        }
    }

    private func forEachListed(
        _ list: AttributeValue, _ budget: inout Int, _ body: (UInt64, UInt64) -> Void
    ) {
        if header.version < 5 {
            let base = skeleton?.root.splitRangesBase ?? 0
            let place = base.addingReportingOverflow(Int(clamping: list.number))
            if !place.overflow { forEachInRanges(place.partialValue, &budget, body) }
        } else if let place = placeOfList(list) {
            forEachInRangeLists(place, &budget, body)
        }
    }

    /// The place of a list in `.debug_rnglists`.
    private func placeOfList(_ list: AttributeValue) -> Int? {
        guard Int(list.form) == DW_FORM_rnglistx else { return Int(exactly: list.number) }
        let size = Int(header.sizes.offset)
        let relative = element(
            list.number, of: image.sections.rangeLists, base: root.rangeListsBase, size: size)
        guard let relative = relative.flatMap({ Int(exactly: $0) }) else { return nil }
        let place = root.rangeListsBase.addingReportingOverflow(relative)
        return place.overflow ? nil : place.partialValue
    }

    /// DWARF 2 to 4: pairs relative to a base; a pair of all ones and an address sets the base.
    private func forEachInRanges(
        _ place: Int, _ budget: inout Int, _ body: (UInt64, UInt64) -> Void
    ) {
        var cursor = ByteCursor(image.sections.ranges, at: place)
        let size = Int(header.sizes.address)
        let ones: UInt64 = size == 8 ? .max : UInt64(UInt32.max)
        var base = root.base
        while budget > 0, !cursor.isBroken {
            budget -= 1
            let start = cursor.number(size: size)
            let end = cursor.number(size: size)
            if start == 0, end == 0 { return }
            if start == ones { base = end } else { body(base &+ start, base &+ end) }
        }
    }

    private func forEachInRangeLists(
        _ place: Int, _ budget: inout Int, _ body: (UInt64, UInt64) -> Void
    ) {
        var cursor = ByteCursor(image.sections.rangeLists, at: place)
        let size = Int(header.sizes.address)
        var base = root.base
        while budget > 0, !cursor.isBroken {
            budget -= 1
            switch Int(cursor.byte()) {
            case DW_RLE_base_addressx: base = address(at: cursor.unsigned()) ?? 0
            case DW_RLE_startx_endx:
                let start = address(at: cursor.unsigned())
                let end = address(at: cursor.unsigned())
                if let start, let end { body(start, end) }
            case DW_RLE_startx_length:
                let start = address(at: cursor.unsigned())
                let length = cursor.unsigned()
                if let start { body(start, start &+ length) }
            case DW_RLE_offset_pair:
                let start = cursor.unsigned()
                let end = cursor.unsigned()
                body(base &+ start, base &+ end)
            case DW_RLE_base_address: base = cursor.number(size: size)
            case DW_RLE_start_end:
                let start = cursor.number(size: size)
                let end = cursor.number(size: size)
                body(start, end)
            case DW_RLE_start_length:
                let start = cursor.number(size: size)
                let length = cursor.unsigned()
                body(start, start &+ length)
            // The end of the list, or an entry of unknown length.
            default: return
            }
        }
    }
}
