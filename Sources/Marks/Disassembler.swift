internal import Architecture
internal import CCapstone

/// Reads machine code.
///
/// Unsafe code: Capstone reads within the bytes that it is given, and writes to memory of its own.
final class Disassembler {
    private var handle: csh = 0
    private let scratch: UnsafeMutablePointer<cs_insn>

    /// nil if there is no memory for it, or Capstone does not support our architecture.
    init?() {
        guard cs_open(CS_ARCH_X86, CS_MODE_64, &handle) == CS_ERR_OK else { return nil }
        cs_option(handle, CS_OPT_DETAIL, Int(CS_OPT_ON.rawValue))
        guard let scratch = cs_malloc(handle) else {
            cs_close(&handle)
            return nil
        }
        self.scratch = scratch
    }

    deinit {
        cs_free(scratch, 1)
        cs_close(&handle)
    }

    /// The instructions from the first byte on, up to bytes that are no instruction.
    func instructions(in code: [UInt8], at address: UInt64) -> [Instruction] {
        var found: [Instruction] = []
        var offset = 0
        while offset < code.count,
            let next = instruction(in: code, at: offset, address &+ UInt64(offset))
        {
            found.append(next)
            offset += next.bytes.count
        }
        return found
    }

    private func instruction(
        in code: [UInt8], at offset: Int, _ address: UInt64
    ) -> Instruction? {
        var raw = fl_instruction()
        let isKnown = code.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map {
                fl_decode(handle, scratch, $0 + offset, buffer.count - offset, address, &raw)
            }
        }
        let end = offset + Int(raw.length)
        guard isKnown == 1, end > offset, end <= code.count else { return nil }
        return Instruction(raw, Array(code[offset..<end]), address)
    }
}

extension Instruction {
    fileprivate init(_ raw: fl_instruction, _ bytes: [UInt8], _ address: UInt64) {
        self.init(address: address, bytes: bytes, kind: Kind(raw))
        if raw.displacement_offset != 0 {
            reference = Reference(location: raw.location, offset: Int(raw.displacement_offset))
        }
        operandOffset = Int(raw.modrm_offset)
        if raw.is_address != 0, let reference { table = reference.location }
        if raw.table != 0 { table = raw.table }
        isSum = raw.is_sum != 0
        isIndexed = raw.is_indexed != 0
        usesStackPointer = raw.uses_stack_pointer != 0
    }
}

extension Instruction.Kind {
    fileprivate init(_ raw: fl_instruction) {
        switch fl_instruction_kind(UInt32(raw.kind)) {
        case FL_ORDINARY: self = .ordinary
        case FL_PADDING: self = .padding
        case FL_JUMP: self = .jump(to: raw.target)
        case FL_BRANCH: self = .branch(to: raw.target)
        case FL_CALL: self = .call(of: raw.target)
        case FL_INDIRECT_JUMP: self = .indirectJump
        case FL_INDIRECT_CALL: self = .indirectCall
        case FL_RETURN: self = .return
        default: self = .unmovable
        }
    }
}
