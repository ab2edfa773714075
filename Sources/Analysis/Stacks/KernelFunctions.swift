/// The kernel's own functions that a thread did not call.
extension Function {
    /// Whether an interrupt begins here, or the kernel's handling of a profiler's events. It can
    /// occur anywhere in a thread: this kernel work is not the thread's, and most of it is the
    /// sampling's own while a program is recorded. System calls and faults are the thread's.
    var isUnasked: Bool {
        guard isKernel else { return false }
        return Self.interruptPrefixes.contains { name.hasPrefix($0) } || Self.unasked.contains(name)
    }

    /// The interrupts that the kernel itself handles: their entries, and the functions that these
    /// call (Linux 5.8 and later).
    private static let interruptPrefixes = ["asm_sysvec_", "sysvec_"]

    /// The functions in which the kernel handles events when a thread gets a core, leaves it,
    /// begins, or maps code; and the entries of interrupts that share no prefix.
    private static let unasked: Set<String> = [
        "asm_common_interrupt", "asm_spurious_interrupt", "asm_exc_nmi",
        "asm_exc_xen_hypervisor_callback", "fred_extint",
        "__perf_event_task_sched_in", "__perf_event_task_sched_out", "perf_event_task_tick",
        "perf_event_init_task", "perf_event_exit_task", "perf_event_fork", "perf_event_comm",
        "perf_event_exec", "perf_event_mmap", "perf_event_namespaces", "perf_event_switch",
    ]
}
