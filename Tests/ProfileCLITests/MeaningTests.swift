import ProfileCLI
import ProfileModel
import Testing

/// The meaning that the user probably had in mind.
@Suite struct MeaningTests {
    private func message(_ line: String) -> String {
        guard case .failure(let error) = parse(line) else { return "" }
        return error.description
    }

    @Test func aUnitThatWasForgotten() {
        #expect(message("record --duration 5 ls").hasSuffix("; did you mean 5s or 5ms?"))
        #expect(message("record --duration=.5 ls").hasSuffix("; did you mean .5s or .5ms?"))
        #expect(message("record --duration soon ls").hasSuffix("250ms, 1.5s or 2m"))
        #expect(message("record --duration -5 ls").hasSuffix("250ms, 1.5s or 2m"))
    }

    @Test func aProcessThatIsNamedByAnOption() {
        #expect(message("record -p 4711").hasSuffix("process: firstlight attach 4711"))
        #expect(message("attach --pid 4711").hasSuffix("process: firstlight attach 4711"))
        #expect(message("attach -p x").hasSuffix("process: firstlight attach PID"))
        // For other subcommands the message is unchanged.
        #expect(message("report --pid 1").contains("it belongs to import"))
    }

    @Test func caseDoesNotMatter() {
        let phases = ["Process creation", "Dynamic linking", "Main"]
        #expect(Suggestions.question(about: "Mian", among: phases) == "; did you mean 'Main'?")
        #expect(Suggestions.question(about: "MIAN", among: phases) == "; did you mean 'Main'?")
        #expect(Suggestions.question(about: "xyz", among: phases).isEmpty)
        #expect(Suggestions.question(about: "", among: []).isEmpty)
    }
}
