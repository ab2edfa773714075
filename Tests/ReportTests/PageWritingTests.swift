import Foundation
import Testing

@Suite struct PageWritingTests {
    /// Where PAGES names a folder, pages are left there: Tests/Browser looks at them.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PAGES"] != nil))
    func pagesForBrowsers() throws {
        let folder = URL(
            filePath: try #require(ProcessInfo.processInfo.environment["PAGES"]),
            directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, page) in PagesForBrowsers.all {
            try Data(page).write(to: folder.appending(path: "\(name).html"))
        }
    }
}
