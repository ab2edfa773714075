import Glibc
import Launching
import Recording
import Sampler

/// `firstlight watch`.
enum WatchCommand {
    /// Watches until a signal ends it, and returns the exit status.
    static func run(_ options: WatchOptions, _ console: Console) -> Int32 {
        // Before there is any other thread.
        WatchSignals.block()
        let path = options.folder(isRoot: geteuid() == 0) { name in
            getenv(name).map { String(cString: $0) }
        }
        guard let path else {
            console.complain("no folder to keep launches in: neither HOME nor --output is set")
            return 1
        }
        do throws(WatchFolder.Problem) {
            let folder = try WatchFolder(path)
            return run(options, in: folder, console)
        } catch {
            console.complain(error.message)
            return 1
        }
    }

    private static func run(
        _ options: WatchOptions, in folder: WatchFolder, _ console: Console
    ) -> Int32 {
        do throws(RecordingError) {
            // Fail now if launches could not be stored.
            try RecordingFile.checkWritable("\(folder.path)/.watch", for: .measurement)
        } catch {
            console.complain(error.description)
            return 1
        }
        do throws(LaunchWatchError) {
            var run = try WatchRun(options, in: folder, console)
            run.untilEnded()
            return 0
        } catch {
            console.complain(error.description)
            return 1
        }
    }
}
