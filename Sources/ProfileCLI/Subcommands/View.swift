import Compression
package import Exports
import Glibc
import ProfileModel
import Report
import Symbolicate

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

/// The options of `view`.
package struct ViewOptions: Sendable {
    package var file: String
    package var names: NameStyle
    package var process: String?
    /// The folder below which source is read.
    package var sourceRoot: String

    package init(_ arguments: ParsedArguments) {
        file = arguments.operands.first ?? RecordOptions.defaultOutput
        names = NameStyle(arguments)
        process = arguments.text(.process)
        sourceRoot = arguments.text(.sourceRoot) ?? "."
    }
}

/// Pages of recordings, in the user's cache.
enum PageCache {
    /// - Returns: the page's path.
    static func keep(_ page: [UInt8], of recording: String) throws(Reading.Failure) -> String {
        let name = name(of: recording)
        guard let folder = CacheFolder.ofUser, folder.write(page, as: name) else {
            throw Reading.Failure(
                "the page cannot be kept in the cache; name a file with 'firstlight report "
                    + "--format html -o FILE' and open that")
        }
        return "\(folder.path)/\(name)"
    }

    /// One page for each recording's path: a new page replaces the old one.
    private static func name(of recording: String) -> String {
        let resolved = realpath(recording, nil)
        defer { free(resolved) }
        let path = resolved.map { String(cString: $0) } ?? recording
        let number = String(path.utf8.fingerprint, radix: 16)
        return "view-\(number)\(CacheFolder.Suffix.page.rawValue)"
    }
}

/// The program that opens pages for the user.
struct Browser {
    private let program: String

    /// The desktop's choice; `BROWSER` may name another program.
    static var ofUser: Browser {
        let wanted = getenv("BROWSER").map { String(cString: $0) } ?? ""
        return Browser(program: wanted.isEmpty ? "xdg-open" : wanted)
    }

    /// A browser in the terminal keeps the terminal until it ends.
    ///
    /// - Returns: false if it failed, which was reported.
    func open(_ path: String, _ console: Console) -> Bool {
        guard let problem = Self.problem(running: [program, path]) else { return true }
        console.complain(
            "\(program) \(problem); open the file above in a browser, or name one in BROWSER")
        return false
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
