import Analysis
import Exports
import ProfileModel

/// What the launch reported itself: readiness, initialisers, libraries, signposts.
extension JSONReport {
    static func ready(_ ready: ReadyFigures?, _ writer: inout JSONWriter) {
        guard let ready else { return writer.value(String?.none) }
        writer.object { writer in
            writer.field("atNs", ready.time)
            writer.field("by", ready.by)
        }
    }

    static func initializer(
        _ profile: Profile, _ run: InitializerFigures, _ writer: inout JSONWriter
    ) {
        let function = profile.frames.function(of: run.frame)
        writer.object { writer in
            writer.field("function", function.name)
            writer.field("module", function.module)
            writer.field("file", run.file)
            writer.field("line", run.line)
            writer.field("startNs", run.start)
            writer.field("wallNs", run.wall)
            writer.field("cpuNs", run.cpu)
        }
    }

    static func library(_ library: LibraryFigures, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("path", library.path)
            writer.field("startNs", library.start)
            writer.field("wallNs", library.wall)
            writer.field("requestedBy", library.requestedBy)
            writer.field("used", known: library.used)
            writer.field("referenced", known: library.isReferenced)
        }
    }

    static func importRun(
        _ profile: Profile, _ run: ImportFigures, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("module", run.name)
            writer.field("file", run.file)
            writer.field("tid", profile.threads[run.thread].tid)
            writer.field("awaited", run.isAwaited)
            writer.field("parent", run.parent)
            writer.field("startNs", run.start)
            writer.field("wallNs", run.wall)
            writer.field("cpuNs", run.cpu)
            writer.field("ownWallNs", run.ownWall)
            writer.field("ownCpuNs", run.ownCPU)
        }
    }

    static func interval(
        _ profile: Profile, _ interval: IntervalFigures, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("name", interval.name)
            writer.field("category", interval.category)
            writer.field("tid", interval.thread.map { profile.threads[$0].tid })
            writer.field("startNs", interval.start)
            writer.field("wallNs", interval.wall)
            writer.field("cpuNs", interval.cpu)
        }
    }

    static func signpost(
        _ profile: Profile, _ signpost: SignpostFigures, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("name", signpost.name)
            writer.field("category", signpost.category)
            writer.field("tid", signpost.thread.map { profile.threads[$0].tid })
            writer.field("atNs", signpost.time)
        }
    }
}
