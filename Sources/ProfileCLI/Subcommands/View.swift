import Analysis
import Glibc
import ProfileModel
import Report
import Symbolicate

/// `firstlight view`.
enum ViewCommand {
    /// The limit for all files in the cache, in bytes.
    private static let limit = 512 << 20

    /// Writes the page to the user's cache and opens it in a browser; returns the exit status.
    static func run(_ options: ViewOptions, _ console: Console) -> Int32 {
        do {
            let path = try write(options, console)
            // A user without a browser here can copy the page elsewhere.
            let status = Output.print(path + "\n", to: console)
            return status == 0 ? open(path, console) : status
        } catch {
            console.complain(error.message)
            return 1
        }
    }

    private static func write(
        _ options: ViewOptions, _ console: Console
    ) throws(Reading.Failure) -> String {
        let profile = try Reading.profile(
            of: options.file, names: options.names, process: options.process)
        let sources = SourceReading(
            profile, recording: options.file, root: options.sourceRoot
        ).lines(tell: console)
        let page = HTMLReport.render(profile, sources: sources, compress: Gzip.compressed)
        let name = pageName(of: options.file)
        guard let folder = CacheFolder.ofUser(limit: limit), folder.write(page, as: name) else {
            throw Reading.Failure(
                "the page cannot be kept in the cache; name a file with 'firstlight report "
                    + "--format html -o FILE' and open that")
        }
        return "\(folder.path)/\(name)"
    }

    /// One page for each recording's path: a new page replaces the old one.
    private static func pageName(of recording: String) -> String {
        let resolved = realpath(recording, nil)
        defer { free(resolved) }
        let path = resolved.map { String(cString: $0) } ?? recording
        let hash = path.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return "view-\(String(hash, radix: 16))\(CacheFolder.Suffix.page.rawValue)"
    }

    /// Opened as the desktop does; `BROWSER` may name another program. A browser in the terminal
    /// keeps the terminal until it ends.
    private static func open(_ path: String, _ console: Console) -> Int32 {
        let wanted = getenv("BROWSER").map { String(cString: $0) } ?? ""
        let opener = wanted.isEmpty ? "xdg-open" : wanted
        guard let problem = problem(running: [opener, path]) else { return 0 }
        console.complain(
            "\(opener) \(problem); open the file above in a browser, or name one in BROWSER")
        return 1
    }

    /// The error; nil: none. Unsafe code: posix_spawn takes C strings, which are freed afterwards.
    private static func problem(running words: [String]) -> String? {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let number = posix_spawnp(&child, words[0], nil, nil, &arguments, environ)
        guard number == 0 else {
            return "cannot be started: \(String(cString: strerror(number)))"
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return status == 0 ? nil : "failed"
    }
}
