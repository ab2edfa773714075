import MadeRecordings
import ProfileModel

/// The launch of ``StarSearcher`` after the change: another build under another name, without the
/// initialiser, with a short wait, and with little work for the first frame.
enum MendedStarSearcher {
    typealias Spot = RecordingBuilder.Spot

    private static let folder = "/home/dev/StarSearcher/mended"
    private static let program = folder + "/StarSearcher-mended"
    private static let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"

    static func recording() -> Recording {
        var builder = RecordingBuilder(images: [(program, 1)])
        for (kind, time) in [
            (LaunchBorder.Kind.spawned, 0), (.firstInstruction, 1), (.relocated, 6), (.main, 8),
            (.ended, 400),
        ] as [(LaunchBorder.Kind, Int64)] {
            builder.border(kind, time)
        }
        let main = builder.thread("StarSearcher-me", tid: 51, to: 400, isMain: true)
        builder.slice(main, at: 0, running: 1, nil)
        let loader = Spot("_start", "/lib64/ld-linux-x86-64.so.2")
        builder.slice(main, at: 1, running: 5, builder.stack([loader]))
        builder.slice(
            main, at: 6, running: 2,
            builder.stack([loader, Spot("_dl_init", "/lib64/ld-linux-x86-64.so.2")]))
        let launch =
            entry + [
                Spot("StarSearcher::didFinishLaunching()", program, file: "/src/app.cpp", line: 33)
            ]
        let wait = builder.stack(
            launch + [
                Spot("StarSearcher::loadStars()", program, file: "/src/app.cpp", line: 59),
                Spot("std::condition_variable::wait(std::unique_lock<std::mutex>&)", libc),
            ])
        builder.slice(main, at: 8, running: 42, builder.stack(launch))
        builder.slice(main, at: 50, blocked: 24, wait, call: 202)
        builder.wait(
            main, from: 50, to: 74, WaitReason(.lock, detail: "mutex", place: 0x6000_2000),
            call: 202, wait)
        builder.slice(
            main, at: 74, running: 226,
            builder.stack(
                launch + [
                    Spot("StarSearcher::buildFirstFrame()", program, file: "/src/app.cpp", line: 74)
                ]))
        builder.slice(
            main, at: 300, running: 60,
            builder.stack(launch + [Spot("Cache::open(char const*)", program)]))
        builder.slice(
            main, at: 360, running: 40, builder.stack(entry + [Spot("write", libc)]))
        builder.recording.libraries.append(
            LibraryLoad(
                path: folder + "/libcache.so", start: RecordingBuilder.at(1), size: 4_096,
                isInitial: true))
        return builder.recording
    }

    private static let entry = [
        Spot("_start", program), Spot("__libc_start_main", libc),
        Spot("main", program, file: "/src/main.cpp", line: 90),
    ]
}
