/// The kernel's own functions that a thread did not ask for.
extension Function {
    /// Whether an interrupt begins here, or what a profiler's events make the kernel do. It comes upon a thread
    /// wherever that is: what the kernel does then is not the thread's work, and most of it is the sampling's own
    /// while a program is recorded. System calls and faults are the thread's.
    var isUnasked: Bool {
        guard isKernel else { return false }
        return Self.interruptPrefixes.contains { name.hasPrefix($0) } || Self.unasked.contains(name)
    }

    /// Of each interrupt that the kernel itself handles: its entry, and what that calls (Linux 5.8 and later).
    private static let interruptPrefixes = ["asm_sysvec_", "sysvec_"]

    /// Where the kernel serves events when a thread gets a core, leaves it, begins, or maps code; and the entries
    /// of interrupts that have no prefix in common.
    private static let unasked: Set<String> = [
        "asm_common_interrupt", "asm_spurious_interrupt", "asm_exc_nmi",
        "asm_exc_xen_hypervisor_callback", "fred_extint",
        "__perf_event_task_sched_in", "__perf_event_task_sched_out", "perf_event_task_tick",
        "perf_event_init_task", "perf_event_exit_task", "perf_event_fork", "perf_event_comm",
        "perf_event_exec", "perf_event_mmap", "perf_event_namespaces", "perf_event_switch",
    ]
}
