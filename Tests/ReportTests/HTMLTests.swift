import Analysis
import MadeRecordings
import ProfileModel
import Testing

@testable import Report

@Suite struct HTMLTests {
    private func page(
        _ profile: Profile = Profile(StarSearcher.recordingWithFacts()),
        sources: SourceLines = SourceLines()
    ) -> String {
        // Without compression the packed data can be read here.
        String(
            decoding: HTMLReport.render(profile, sources: sources) { $0 }, as: UTF8.self)
    }

    // MARK: The page

    @Test func noPlaceIsLeftOpen() {
        let page = page()
        for place in PageBundle.launch.skeleton.split(separator: "\n") where place.hasPrefix("@") {
            #expect(!page.contains("\n\(place)\n"), "\(place)")
        }
    }

    @Test func nothingIsLoaded() {
        let page = page()
        for attribute in ["src=", "href=", "@import", "url("] {
            #expect(!page.contains(attribute), "\(attribute)")
        }
        #expect(page.contains("default-src 'none'"))
        #expect(!page.contains("unsafe-"))
    }

    @Test func policyKnowsScriptAndStyleByTheirHashes() throws {
        let page = page()
        for (start, end, name) in [
            ("<script type=\"module\">", "</script>", "script-src"),
            ("<style>", "</style>", "style-src"),
        ] {
            let from = try #require(page.firstRange(of: start)?.upperBound)
            let to = try #require(page[from...].firstRange(of: end)?.lowerBound)
            let hash = Base64.encoded(SHA256.hash(Array(page[from..<to].utf8)))
            let source = String(decoding: hash, as: UTF8.self)
            #expect(page.contains("\(name) 'sha256-\(source)'"))
        }
    }

    @Test func modulesAreOneScript() {
        let script = String(decoding: PageBundle.launch.script, as: UTF8.self)
        for line in script.split(separator: "\n") {
            #expect(!line.hasPrefix("import ") && !line.hasPrefix("export "), "\(line)")
        }
        // It would end the script.
        #expect(!script.contains("</"))
    }

    @Test func namesStandInNoMarkup() throws {
        var recording = StarSearcher.recordingWithFacts()
        let evil = "</script><img src=x onerror=alert(1)>"
        recording.images[0].path = "/home/dev/\(evil.filter { $0 != "/" })"
        recording.images[0].arguments = [evil]
        recording.threads[0].name = evil
        recording.intervals[0].name = evil
        let page = page(Profile(recording))
        #expect(!page.contains("<img"))
        #expect(page.contains("<title>&lt;script&gt;&lt;img src=x"))
    }

    @Test func theSummaryIsForThoseWithoutScripts() throws {
        let page = page()
        let from = try #require(page.firstRange(of: "<noscript>")?.upperBound)
        let to = try #require(page[from...].firstRange(of: "</noscript>")?.lowerBound)
        #expect(page[from..<to].contains("SuperfastLogger::warmUp()"))
    }

    // MARK: The data

    @Test func dataIsCompressedAndInBase64() throws {
        let profile = Profile(StarSearcher.recording())
        var given: [UInt8] = []
        let page = HTMLReport.render(profile) { bytes in
            given = bytes
            return [1, 2, 3, 255]
        }
        #expect(given == PageData(profile, SourceLines()).render())
        #expect(String(decoding: page, as: UTF8.self).contains("\nAQID/w==\n"))
    }

    @Test func sourceIsThere() {
        var sources = SourceLines()
        sources.files["/src/logger.cpp"] = [33: "    return \"<b>\";"]
        let bytes = PageData(Profile(StarSearcher.recording()), sources).render()
        let data = String(decoding: bytes, as: UTF8.self)
        #expect(data.contains(#""source":{"/src/logger.cpp":{"33":"    return \"<b>\";"}}"#))
    }

    @Test func anEmptyRecordingMakesAPage() {
        let empty = RecordingBuilder(images: []).recording
        #expect(page(Profile(empty)).contains("</html>"))
    }

    // MARK: Encodings

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func base64(text: String, encoded: String) {
        #expect(String(decoding: Base64.encoded(Array(text.utf8)), as: UTF8.self) == encoded)
    }

    /// FIPS 180-4's own examples, and the lengths around a block's end by their known hashes.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 55),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
        ),
        (
            String(repeating: "a", count: 64),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
        ),
    ])
    func sha256(text: String, hash: String) {
        let digits = SHA256.hash(Array(text.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        #expect(digits.joined() == hash)
    }
}
