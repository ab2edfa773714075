/// What Linux 6.18 handed out, slightly shortened.
enum ProcSamples {
    static let maps = """
        557b0807c000-557b0807e000 r--p 00000000 fe:00 253911                     /usr/bin/cat
        557b0807e000-557b08083000 r-xp 00002000 fe:00 253911                     /usr/bin/cat
        557b128ac000-557b128cd000 rw-p 00000000 00:00 0                          [heap]
        7fce1c275000-7fce1c297000 rwxp 00000000 00:00 0\u{20}
        7fce1c300000-7fce1c301000 r-xp 00001000 fe:00 77                         /tmp/my  lib (1).so
        7fce1c301000-7fce1c302000 r-xp 00000000 fe:00 78                         /tmp/a\\012b.so
        7fce1c302000-7fce1c303000 --xp 00000000 fe:00 79                         /tmp/gone.so (deleted)
        7fce1c4ed000-7fce1c4ef000 r-xp 00000000 00:00 0                          [vdso]
        7ffd2fdd5000-7ffd2fdf6000 rw-p 00000000 00:00 0                          [stack]
        ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]

        """

    /// A thread that named itself `a) R (b`.
    static let stat = """
        6727 (a) R (b) S 6616 6616 1449 0 -1 4194304 102 5 3 7 0 0 0 0 20 0 1 0 392387 3133440 \
        373 18446744073709551615 94234777554944 94234777574825 140730372246992 0 0 0 0 0 0 0 0 0 \
        17 0 0 0 0 0 0 94234777590832 94234777592448 94234968260608 140730372254166 0\n
        """

    static let kernelThread = """
        2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0 18446744073709551615 0\n
        """

    static let schedstat = "750379 73540 2\n"

    static let syscallBlocked = """
        0 0x3 0x7f9c9e2f1000 0x20000 0x7f9c9e384b60 0xffffffff 0x0 0x7fff3abf2168 0x7f9c9e46d2ad\n
        """
    static let syscallOutside = "-1 0x7ffd7b3cf370 0x55a1bd0d8163\n"
    static let syscallRunning = "running\n"

    static let status = """
        Name:\tcat
        State:\tS (sleeping)
        Tgid:\t6727
        Pid:\t6727
        TracerPid:\t0
        Uid:\t1000\t1000\t1000\t1000
        VmLib:\t    1528 kB
        SigBlk:\t0000000000010000
        SigIgn:\t0000000000001010
        voluntary_ctxt_switches:\t17
        nonvoluntary_ctxt_switches:\t4

        """

    static let io = """
        rchar: 7289
        wchar: 313
        syscr: 14
        syscw: 2
        read_bytes: 4096
        write_bytes: 0
        cancelled_write_bytes: 0

        """

    static let all = [
        maps, stat, kernelThread, schedstat, syscallBlocked, syscallOutside, syscallRunning, status,
        io,
    ]
}
