// Capstone, and one instruction of it in a form that needs no unions.
#pragma once
#include <capstone/capstone.h>
#include <string.h>

enum fl_instruction_kind {
    FL_ORDINARY = 0,
    FL_PADDING,             // does nothing: nop, in all its lengths
    FL_JUMP,                // to a fixed place, always
    FL_BRANCH,              // to a fixed place, on a condition of the flags
    FL_CALL,                // of a fixed place
    FL_INDIRECT_JUMP,
    FL_INDIRECT_CALL,
    FL_RETURN,
    FL_UNMOVABLE,           // has another meaning, or other code relies on it, at another place
};

struct fl_instruction {
    uint64_t target;        // of a jump, branch or call to a fixed place
    uint64_t location;      // address it refers to by a distance, if displacement_offset is
                            // not 0
    uint64_t table;         // the table that is indexed, in words, from a fixed place; 0: none
    uint8_t kind;           // one of those above
    uint8_t length;
    uint8_t displacement_offset;
    uint8_t modrm_offset;
    uint8_t is_address;     // loads an address: lea
    uint8_t is_sum;         // add
    uint8_t is_indexed;     // its operand is memory with an index
    uint8_t uses_stack_pointer;
};

static inline int fl_is_in(const cs_insn *instruction, uint8_t group) {
    for (uint8_t index = 0; index < instruction->detail->groups_count; index++)
        if (instruction->detail->groups[index] == group) return 1;
    return 0;
}

static inline void fl_describe_memory(const cs_insn *instruction, const x86_op_mem *memory,
                                      struct fl_instruction *result) {
    const cs_x86 *x86 = &instruction->detail->x86;
    if (memory->base == X86_REG_EIP || memory->index == X86_REG_EIP) {
        result->kind = FL_UNMOVABLE;
    } else if (memory->base == X86_REG_RIP) {
        if (x86->encoding.disp_offset == 0 || x86->encoding.disp_size != 4)
            result->kind = FL_UNMOVABLE;
        result->displacement_offset = x86->encoding.disp_offset;
        result->location = instruction->address + instruction->size + (uint64_t)memory->disp;
    }
    if (memory->base == X86_REG_RSP) result->uses_stack_pointer = 1;
    if (memory->index != X86_REG_INVALID) {
        result->is_indexed = 1;
        if (memory->base == X86_REG_INVALID) result->table = (uint64_t)memory->disp;
    }
}

static inline void fl_describe_flow(const cs_insn *instruction, struct fl_instruction *result) {
    const cs_x86 *x86 = &instruction->detail->x86;
    const int is_jump = fl_is_in(instruction, CS_GRP_JUMP);
    const int is_call = fl_is_in(instruction, CS_GRP_CALL);
    const int is_fixed = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
    const int is_far = instruction->id == X86_INS_LCALL || instruction->id == X86_INS_LJMP;
    if (fl_is_in(instruction, CS_GRP_RET)) {
        result->kind = FL_RETURN;
    } else if ((is_jump || is_call) && is_fixed) {
        result->target = (uint64_t)x86->operands[0].imm;
        result->kind = is_call                              ? FL_CALL
                       : instruction->id == X86_INS_JMP ? FL_JUMP
                                                        : FL_BRANCH;
    } else if ((is_jump || is_call) && x86->op_count == 1 && !is_far) {
        result->kind = is_call ? FL_INDIRECT_CALL : FL_INDIRECT_JUMP;
    } else if (is_jump || is_call || fl_is_in(instruction, CS_GRP_BRANCH_RELATIVE) ||
               fl_is_in(instruction, CS_GRP_INT) || fl_is_in(instruction, CS_GRP_IRET) ||
               fl_is_in(instruction, CS_GRP_PRIVILEGE)) {
        result->kind = FL_UNMOVABLE;
    }
}

// Decodes the instruction at the beginning of `code`. 0: the instruction is unknown.
//
// `scratch` comes from cs_malloc, of a handle with details.
static inline int fl_decode(csh handle, cs_insn *scratch, const uint8_t *code, size_t size,
                            uint64_t address, struct fl_instruction *result) {
    if (!cs_disasm_iter(handle, &code, &size, &address, scratch)) return 0;
    const cs_x86 *x86 = &scratch->detail->x86;
    memset(result, 0, sizeof *result);
    result->length = (uint8_t)scratch->size;
    result->modrm_offset = x86->encoding.modrm_offset;
    result->is_address = scratch->id == X86_INS_LEA;
    result->is_sum = scratch->id == X86_INS_ADD;
    if (scratch->id == X86_INS_NOP) {
        result->kind = FL_PADDING;
        return 1;
    }
    fl_describe_flow(scratch, result);
    for (uint8_t index = 0; index < x86->op_count; index++) {
        const cs_x86_op *operand = &x86->operands[index];
        if (operand->type == X86_OP_MEM) fl_describe_memory(scratch, &operand->mem, result);
        if (operand->type == X86_OP_REG && operand->reg == X86_REG_RSP)
            result->uses_stack_pointer = 1;
    }
    switch (scratch->id) {
    case X86_INS_UD2:
    case X86_INS_UD2B:
    case X86_INS_HLT:
    case X86_INS_INT3:
    case X86_INS_XBEGIN:
    case X86_INS_INVALID: result->kind = FL_UNMOVABLE; break;
    default: break;
    }
    return 1;
}
