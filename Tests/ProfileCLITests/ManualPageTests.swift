import ProfileCLI
import Testing

@Suite struct ManualPageTests {
    private static let pages: [Subcommand?] = [nil] + Subcommand.allCases

    @Test(arguments: Subcommand.allCases) func everyOptionIsThere(subcommand: Subcommand) {
        let page = ManualPage.render(subcommand)
        for option in OptionTable.options(of: subcommand) {
            #expect(page.contains("\\-\\-" + option.long.replacing("-", with: "\\-")))
        }
        #expect(ManualPage.render().contains("firstlight\\-\(subcommand.rawValue) (1)"))
    }

    /// A line that begins with a dot and is no request would vanish.
    @Test(arguments: pages) func onlyKnownRequests(of subcommand: Subcommand?) {
        let known: Set<Substring> = [
            ".TH", ".SH", ".TP", ".PP", ".B", ".BR", ".RB", ".I", ".IR", ".br", ".\\\"",
        ]
        for line in ManualPage.render(subcommand).split(separator: "\n") where line.hasPrefix(".") {
            #expect(known.contains(line.prefix { $0 != " " }), "\(line)")
        }
    }
}
