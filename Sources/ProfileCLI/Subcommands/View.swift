import Compression
import Report

/// `firstlight view`.
enum ViewCommand {
    /// Writes the page to the user's cache and opens it in a browser; returns the exit status.
    static func run(_ options: ViewOptions, _ console: Console) -> Int32 {
        do {
            let path = try PageCache.keep(page(options, console), of: options.file)
            // A user without a browser here can copy the page elsewhere.
            let status = Output.print(path + "\n", to: console)
            guard status == 0 else { return status }
            return Browser.ofUser.open(path, console) ? 0 : 1
        } catch {
            console.complain(error.message)
            return 1
        }
    }

    private static func page(
        _ options: ViewOptions, _ console: Console
    ) throws(Reading.Failure) -> [UInt8] {
        let profile = try Reading.profile(
            of: options.file, names: options.names, process: options.process)
        let sources = SourceReading(
            profile, recording: options.file, root: options.sourceRoot
        ).lines(tell: console)
        return HTMLReport.render(profile, sources: sources, compress: Gzip.compressed)
    }
}
