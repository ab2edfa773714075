import MadeRecordings
import ProfileModel

/// A launch like that of the bundled demonstration: a slow, unneeded initialiser, a main thread
/// that waits for a worker, and too much work for the first frame.
enum StarSearcher {
    typealias Spot = RecordingBuilder.Spot

    private static let loader = "/lib64/ld-linux-x86-64.so.2"
    private static let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"
    private static let sqlite = "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6"
    private static let logger = "/home/dev/StarSearcher/libsuperlog.so"
    private static let program = "/home/dev/StarSearcher/StarSearcher"

    static func recording() -> Recording { builder().recording }

    private static func builder() -> RecordingBuilder {
        var builder = RecordingBuilder(images: [(program, 1)])
        builder.recording.images[0].arguments = ["StarSearcher", "--catalogue", "bright stars"]
        borders(&builder)
        let main = builder.thread("StarSearcher", tid: 4241, to: 2512, isMain: true)
        let worker = builder.thread("star loader", tid: 4242, from: 420, to: 2512)
        builder.slice(main, at: 0, running: 1, nil)
        beforeMain(&builder, main)
        afterMain(&builder, main)
        work(&builder, worker)
        modules(&builder)
        builder.recording.slices.sort { $0.start < $1.start }
        let slices = Int64(builder.recording.slices.count)
        builder.recording.header.ticks = slices
        builder.recording.header.heldByProfiler = .milliseconds(41)
        return builder
    }

    /// The same launch, whose libraries and initialisers were watched, with the program's
    /// signposts, and recorded for a while after it was ready.
    static func recordingWithFacts() -> Recording {
        var builder = builder()
        let (main, worker) = (ThreadIndex(0), ThreadIndex(1))
        let launch = Spot(
            "StarSearcher::didFinishLaunching()", program, file: "/src/app.cpp", line: 31)
        func load(
            _ path: String, at start: Int64, wall: Int64? = nil, size: Int64, by: String?,
            file: String? = nil
        ) {
            builder.recording.libraries.append(
                LibraryLoad(
                    path: path, start: RecordingBuilder.at(start),
                    wall: wall.map(TimeSpan.milliseconds), size: size, requestedBy: by,
                    caller: wall.flatMap { _ in
                        builder.stack(entry + [launch, Spot("dlopen", libc), Spot(nil, loader)])
                    }, isInitial: wall == nil, file: file))
        }
        load(logger, at: 1, size: 45_056, by: program)
        load(
            "/lib/x86_64-linux-gnu/libsqlite3.so.0", at: 1, size: 1_392_640, by: program,
            file: sqlite)
        load("/lib/x86_64-linux-gnu/libc.so.6", at: 1, size: 2_015_232, by: sqlite, file: libc)
        load("/lib/x86_64-linux-gnu/libm.so.6", at: 1, size: 909_312, by: sqlite)
        let themes = "/home/dev/StarSearcher/plugins/libthemes.so"
        load(themes, at: 402, wall: 9, size: 81_920, by: nil)
        _ = builder.module(themes)

        builder.initializer(Spot("init_cacheinfo", libc), main, from: 6, to: 7, cpu: 1)
        builder.initializer(warmUp, main, from: 7, to: 379, cpu: 370)
        builder.initializer(
            Spot("_GLOBAL__sub_I_view.cpp", program), main, from: 379, to: 380, cpu: 1)
        builder.initializer(
            Spot("registerThemes()", themes, file: "/src/themes.c", line: 9), main, from: 404,
            to: 410, cpu: 5, isComplete: false)

        builder.interval("Load catalogue", "launch", main, from: 418, to: 1174)
        builder.interval("First frame", "launch", main, from: 1174, to: 2054)
        builder.interval("read stars", "database", worker, from: 420, to: 1170)
        for tile in 0..<3 as Range<Int64> {
            builder.interval(
                "prewarm", "view", main, from: 1200 + 200 * tile, to: 1350 + 200 * tile)
        }
        builder.interval("network", "", main, from: 2100, to: 2512, isComplete: false)
        builder.interval("Thumbnails", "extended", main, from: 2060, to: 2400)
        builder.event("first star drawn", "view", main, at: 2050)
        builder.ready("signpost:first star drawn", at: 2054)
        waits(&builder, main, worker)
        return builder.recording
    }

    private static func waits(
        _ builder: inout RecordingBuilder, _ main: ThreadIndex, _ worker: ThreadIndex
    ) {
        func stack(of thread: ThreadIndex, at time: Int64) -> StackID? {
            builder.recording.slices.last {
                $0.thread == thread && $0.start <= RecordingBuilder.at(time)
            }?.stack
        }
        builder.wait(
            main, from: 420, to: 1174,
            WaitReason(.lock, detail: "mutex", owner: 4242, place: 0x5000_1000), call: 202,
            stack(of: main, at: 500))
        builder.wait(
            worker, from: 1170, to: 2512, WaitReason(.other, place: 0x77), call: 202,
            stack(of: worker, at: 1200))
        builder.wait(
            main, from: 2154, to: 2512, WaitReason(.pipe), call: 1, stack(of: main, at: 2200))
        builder.priority(main, at: 1, nice: 0)
        builder.priority(worker, at: 420, nice: 0)
        builder.priority(worker, at: 470, nice: 10)
        builder.recording.notes = [RecorderNote(.spared, 3), RecorderNote(.unseenCPU, 10)]
    }

    /// The same launch, with the scheduler's own account of it.
    static func recordingWithSchedule() -> Recording {
        var builder = builder()
        let (main, worker) = (ThreadIndex(0), ThreadIndex(1))
        builder.runs(
            main, from: 0, (.running, until: 380), (.preempted, until: 384), (.running, until: 420),
            (.blocked, until: 1174), (.runnable, until: 1176), (.running, until: 2154),
            (.blocked, until: 2512))
        builder.runs(
            worker, from: 420, (.runnable, until: 421), (.running, until: 800),
            (.preempted, until: 900), (.running, until: 1180))
        builder.wakeup(of: worker, at: 420, by: main)
        builder.wakeup(of: main, at: 1174, by: worker)
        return builder.recording
    }

    private static func borders(_ builder: inout RecordingBuilder) {
        builder.border(.spawned, 0, ProcessCounters(minorFaults: 0, majorFaults: 0, readBytes: 0))
        builder.border(
            .firstInstruction, 1,
            ProcessCounters(minorFaults: 60, majorFaults: 0, readBytes: 0))
        builder.border(
            .relocated, 7, ProcessCounters(minorFaults: 310, majorFaults: 12, readBytes: 3_145_728))
        builder.border(
            .main, 380, ProcessCounters(minorFaults: 420, majorFaults: 12, readBytes: 3_145_728))
        builder.border(
            .ended, 2512,
            ProcessCounters(minorFaults: 9_120, majorFaults: 15, readBytes: 47_815_066))
    }

    private static func modules(_ builder: inout RecordingBuilder) {
        for (index, module) in builder.recording.modules.enumerated() {
            let isOwn = module.isOwn
            builder.recording.modules[index].buildID = (0..<20).map {
                UInt8(truncatingIfNeeded: $0 * 13 + index * 7)
            }
            builder.recording.symbols.modules[ModuleIndex(index)] = ModuleSymbols(
                debugInfoPath: isOwn ? module.path : nil, debugInfoOrigin: isOwn ? .module : nil,
                symbolOrigin: index == 0 ? nil : isOwn ? .complete : .exported)
            builder.recording.mappings.append(
                Mapping(
                    start: 0x1000, end: 0x9000, bias: 0, module: ModuleIndex(index),
                    time: RecordingBuilder.at(1 + Int64(index))))
        }
    }

    private static let warmUp = Spot(
        "SuperfastLogger::warmUp()", logger, file: "/src/logger/logger.cpp", line: 41,
        inlined: [
            SourceFrame(
                function: "SuperfastLogger::mix(unsigned long)", file: "/src/logger/mix.hpp",
                line: 12, isInlined: true)
        ])

    private static func beforeMain(_ builder: inout RecordingBuilder, _ main: ThreadIndex) {
        let relocate = builder.stack([
            Spot("_start", loader), Spot("_dl_start_user", loader),
            Spot("_dl_relocate_object", loader),
        ])
        builder.slice(main, at: 1, running: 6, relocate)
        let warmUp = builder.stack([Spot("_start", loader), Spot("_dl_init", loader), warmUp])
        for tick in 0..<370 as Range<Int64> {
            builder.slice(main, at: 7 + tick, running: 1, warmUp)
        }
        builder.slice(main, at: 377, running: 1, runnable: 1, preempted: 1, warmUp)
    }

    private static let entry = [
        Spot("_start", program), Spot("__libc_start_main", libc),
        Spot("main", program, file: "/src/main.cpp", line: 88),
    ]

    private static func afterMain(_ builder: inout RecordingBuilder, _ main: ThreadIndex) {
        let launch =
            entry + [
                Spot(
                    "StarSearcher::didFinishLaunching()", program, file: "/src/app.cpp", line: 31)
            ]
        let wait = builder.stack(
            launch + [
                Spot("StarSearcher::loadStars()", program, file: "/src/app.cpp", line: 57),
                Spot("std::condition_variable::wait(std::unique_lock<std::mutex>&)", libc),
                Spot(nil, libc),
            ])
        for tick in 0..<754 as Range<Int64> {
            builder.slice(main, at: 420 + tick, blocked: 1, wait, call: 202)
        }
        let frames = [
            ("DetailView::layout()", 212 as Int32), ("DetailView::layout()", 214),
            ("DetailView::shade()", 230),
        ]
        for tick in 0..<880 as Range<Int64> {
            let (name, line) = frames[Int(tick % 3)]
            let stack = builder.stack(
                launch + [
                    Spot(
                        "StarSearcher::buildFirstFrame()", program, file: "/src/app.cpp", line: 71),
                    Spot(
                        "DetailView::prewarm(Star const&)", program, file: "/src/view.cpp",
                        line: 190),
                    Spot(name, program, file: "/src/view.cpp", line: line),
                ])
            builder.slice(
                main, at: 1174 + tick, running: 1, stack,
                truncation: tick == 500 ? .unknownRegister : nil)
        }
        builder.slice(
            main, at: 380, running: 40,
            builder.stack(entry + [Spot("parseOptions(int, char**)", program)]))
        let write = builder.stack(entry + [Spot("write", libc)])
        builder.slice(main, at: 2054, running: 100, write)
        builder.slice(main, at: 2154, blocked: 358, write, call: 1)
    }

    private static func work(_ builder: inout RecordingBuilder, _ worker: ThreadIndex) {
        let read = builder.stack([
            Spot("__clone3", libc), Spot("start_thread", libc),
            Spot("StarStore::readAll()", program, file: "/src/store.cpp", line: 118),
            Spot("sqlite3_step", sqlite), Spot(nil, sqlite),
        ])
        for tick in 0..<750 as Range<Int64> {
            builder.slice(worker, at: 420 + tick, running: 1, read)
        }
        let idle = builder.stack([
            Spot("__clone3", libc), Spot("start_thread", libc), Spot("pthread_cond_wait", libc),
        ])
        builder.slice(worker, at: 1170, blocked: 1342, idle, call: 202)
    }
}
