package import Analysis
import ProfileModel

/// A profile as one page that needs nothing else: no network, no other file.
///
/// Names from the recording stand in no markup: they are in the packed data, which scripts turn
/// into text, and in the summary for those without scripts, where they are escaped.
package enum HTMLReport {
    /// - Parameters:
    ///   - sources: lines of source files, by path and number.
    ///   - compress: makes a gzip file of bytes.
    package static func render(
        _ profile: Profile, sources: SourceLines = SourceLines(),
        compress: ([UInt8]) -> [UInt8]
    ) -> [UInt8] {
        let (script, style) = (PageBundle.script, PageBundle.style)
        let data = compress(PageData(profile, sources).render())
        var result: [UInt8] = []
        // The skeleton has each place once, in a line of its own.
        for line in PageBundle.skeleton.split(separator: "\n") {
            switch line {
            case "@POLICY@": result += policy(script, style).utf8
            case "@TITLE@": result += "<title>\(XML.text(title(of: profile)))</title>".utf8
            case "@STYLE@": result += "<style>".utf8 + style + "</style>".utf8
            case "@SCRIPT@": result += "<script type=\"module\">".utf8 + script + "</script>".utf8
            case "@DATA@": result += Base64.encoded(data)
            case "@SUMMARY@": result += summary(of: profile).utf8
            default: result += line.utf8
            }
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }

    /// Nothing may be loaded, and nothing runs but what is known by its hash.
    private static func policy(_ script: [UInt8], _ style: [UInt8]) -> String {
        func source(_ text: [UInt8]) -> String {
            "'sha256-" + String(decoding: Base64.encoded(SHA256.hash(text)), as: UTF8.self) + "'"
        }
        return "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            + "script-src \(source(script)); style-src \(source(style)); base-uri 'none'; "
            + "form-action 'none'\">"
    }

    private static func title(of profile: Profile) -> String {
        let name =
            profile.program.name.isEmpty
            ? "process \(profile.header.pid)" : profile.program.name
        return "\(name.escapedForDisplay): \(Numbers.preciseTime(profile.launch.wall)) – Firstlight"
    }

    /// For those without scripts.
    private static func summary(of profile: Profile) -> String {
        var options = TextOptions()
        options.width = 120
        let lines = TextReport.render(profile, view: .summary, options: options)
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { XML.text(String($0)) }.joined(separator: "\n")
    }
}
