/// The files of a page: one script, one style sheet, a skeleton of HTML.
struct PageFiles: Sendable {
    var skeleton: String
    var script: [UInt8]
    var style: [UInt8]
}

/// Fills the places in a page's skeleton. Each place is a line of its own: `@NAME@`.
enum PageFrame {
    /// - Parameter content: by place; it must be escaped already.
    static func fill(_ files: PageFiles, _ content: [String: String]) -> [UInt8] {
        var result: [UInt8] = []
        for line in files.skeleton.split(separator: "\n") {
            switch line {
            case "@POLICY@": result += policy(files).utf8
            case "@STYLE@": result += "<style>".utf8 + files.style + "</style>".utf8
            case "@SCRIPT@":
                result += "<script type=\"module\">".utf8 + files.script + "</script>".utf8
            default: result += (content[String(line)] ?? String(line)).utf8
            }
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }

    /// Nothing may be loaded, and only scripts and styles with a known hash may run.
    private static func policy(_ files: PageFiles) -> String {
        func source(_ text: [UInt8]) -> String {
            "'sha256-" + String(decoding: Base64.encoded(SHA256.hash(text)), as: UTF8.self) + "'"
        }
        return "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            + "script-src \(source(files.script)); style-src \(source(files.style)); "
            + "base-uri 'none'; form-action 'none'\">"
    }
}
