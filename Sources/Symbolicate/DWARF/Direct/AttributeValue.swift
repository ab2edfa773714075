internal import CElfutils
internal import ELF

/// A value as it is encoded; its meaning depends on its form and its unit.
struct AttributeValue {
    var form: UInt16 = 0
    /// The number; for texts and blocks, where they begin in `.debug_info`.
    var number: UInt64 = 0

    /// True if the entry has the attribute.
    var isThere: Bool { form != 0 }
}

extension ByteCursor {
    /// Skips a value.
    @inline(__always)
    mutating func skip(_ spec: AttributeSpec, _ sizes: FormSizes) {
        if spec.size >= 0 { return skip(Int(spec.size)) }
        if Int(spec.form) == DW_FORM_exprloc { return skip(unsigned()) }
        _ = value(spec, sizes)
    }

    /// Reads a value. An unknown form breaks the cursor, since the next value could begin anywhere.
    mutating func value(_ spec: AttributeSpec, _ sizes: FormSizes) -> AttributeValue {
        var form = spec.form
        // An indirect form is followed by the real one, which must not be indirect.
        if Int(form) == DW_FORM_indirect {
            form = UInt16(truncatingIfNeeded: unsigned())
            guard Int(form) != DW_FORM_indirect, Int(form) != DW_FORM_implicit_const else {
                move(to: -1)
                return AttributeValue()
            }
        }
        var result = AttributeValue(form: form)
        switch Int(form) {
        case DW_FORM_flag_present: result.number = 1
        case DW_FORM_implicit_const: result.number = UInt64(bitPattern: spec.constant)
        case DW_FORM_udata, DW_FORM_ref_udata, DW_FORM_strx, DW_FORM_addrx, DW_FORM_rnglistx,
            DW_FORM_loclistx, DW_FORM_GNU_addr_index, DW_FORM_GNU_str_index:
            result.number = unsigned()
        case DW_FORM_sdata: result.number = UInt64(bitPattern: signed())
        case DW_FORM_string:
            result.number = UInt64(position)
            text()
        case DW_FORM_block, DW_FORM_exprloc: skipBlock(unsigned(), &result)
        case DW_FORM_block1: skipBlock(number(size: 1), &result)
        case DW_FORM_block2: skipBlock(number(size: 2), &result)
        case DW_FORM_block4: skipBlock(number(size: 4), &result)
        case DW_FORM_data16: skipBlock(16, &result)
        default:
            let size = sizes.size(of: form)
            result.number = number(size: size)
        }
        return result
    }

    private mutating func skipBlock(_ size: UInt64, _ result: inout AttributeValue) {
        result.number = UInt64(position)
        skip(size)
    }
}
