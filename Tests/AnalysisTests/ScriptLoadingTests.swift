import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Interpreters that spend a launch in loading files.
@Suite struct ScriptLoadingTests {
    private typealias Spot = RecordingBuilder.Spot

    /// The main thread works from 200 on, in what the interpreter's function calls.
    private func findings(
        _ function: String, _ path: String, until end: Int64, attached: Bool = false
    ) -> [Finding] {
        var launch = FindingLaunch(attached: attached)
        let entry = [Spot("_start", path), Spot("main", path)]
        let spots = entry + [Spot(function, path), Spot("yyparse", path)]
        for time in 200..<end as Range<Int64> {
            launch.run(launch.main, at: time, running: 1, in: spots)
        }
        return launch.findings
    }

    @Test(
        arguments: [
            ("Perl_utilize", "/usr/bin/perl", .perl),
            ("Perl_pp_require", "/usr/lib/libperl.so.5.36", .perl),
            ("rb_require_string", "/usr/lib/libruby-3.1.so.3.1", .ruby),
            ("load-with-code-conversion", "/usr/bin/emacs-gtk", .emacsLisp),
            ("maybe_execute_file", "/usr/bin/bash", .bash), ("source", "/usr/bin/zsh", .zsh),
            ("setup_Rmainloop", "/usr/lib/R/lib/libR.so", .r),
        ] as [(String, String, ScriptLoader)])
    func theThreadThatLoadsScripts(function: String, path: String, loader: ScriptLoader) throws {
        let found = findings(function, path, until: 600)
        #expect(found.map(\.subject) == [.scriptLoading(loader)])
        #expect(found.first?.saving == .milliseconds(400))
        let names = try #require(found.first).stack.map { $0.rawValue }
        #expect(names.count == 4)
    }

    @Test func stacksWithoutALoad() {
        let kinds = { (found: [Finding]) in found.map(\.kind).filter { $0 == .scriptLoading } }
        // A quarter of the launch, up to its end.
        #expect(kinds(findings("Perl_utilize", "/usr/bin/perl", until: 460)).count == 1)
        #expect(kinds(findings("Perl_utilize", "/usr/bin/perl", until: 440)).isEmpty)
        // Another program's function of that name.
        #expect(kinds(findings("source", "/usr/bin/mixer", until: 600)).isEmpty)
        #expect(kinds(findings("Perl_yyparse", "/usr/bin/perl", until: 600)).isEmpty)
        #expect(kinds(findings("source", "/usr/bin/zsh", until: 600, attached: true)).isEmpty)
    }
}
