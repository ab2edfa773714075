import Runtimes
import Testing

/// Stacks as importlib makes them, newest frame first.
struct ImportTests {
    private static let bootstrap = "<frozen importlib._bootstrap>"
    private static let external = "<frozen importlib._bootstrap_external>"

    private static func code(_ name: String, _ file: String) -> PythonCode {
        PythonCode(
            name: name, qualifiedName: name, file: file,
            lines: PythonLineTable(.locations, [], firstLine: 1), length: 2, firstTraceable: 0)
    }

    /// `name`: the program's; `name@B`, `name@X`: importlib's; `(name)`: native.
    private static func role(_ word: Substring) -> PythonImports.Role {
        let parts = word.split(separator: "@")
        if word.hasPrefix("(") { return .native }
        switch parts.last {
        case "B": return code(String(parts[0]), bootstrap).role
        case "X": return code(String(parts[0]), external).role
        default: return code(String(word), "/program.py").role
        }
    }

    private static func shown(_ stack: String) -> String {
        let words = stack.split(separator: " ")
        return PythonImports.steps(words.map(role)).map { step in
            switch step {
            case .frame(let index): String(words[index])
            case .importing(let index): "+\(index)"
            case .awaiting(let index): "?\(index)"
            }
        }.joined(separator: " ")
    }

    private static let source =
        "_call_with_frames_removed@B exec_module@X _load_unlocked@B _find_and_load_unlocked@B "
        + "_find_and_load@B"

    @Test func `an import of a file is one step`() {
        #expect(Self.shown("f <module> \(Self.source) main") == "f <module> +6 main")
        #expect(
            Self.shown("(read) <module> (exec) \(Self.source) (import) main (start)")
                == "(read) <module> (exec) +7 (import) main (start)")
    }

    @Test func `native frames between importlib's belong to the step`() {
        let stack = Self.source.split(separator: " ").joined(separator: " (call) ")
        #expect(
            Self.shown("<module> (exec) \(stack) (import) main")
                == "<module> (exec) +10 (import) main")
    }

    @Test func `imports within imports are steps each`() {
        #expect(
            Self.shown("<module> \(Self.source) <module> \(Self.source) main")
                == "<module> +5 <module> +11 main")
        // A package is imported before its modules.
        let package = "_call_with_frames_removed@B _find_and_load_unlocked@B _find_and_load@B"
        #expect(Self.shown("<module> \(Self.source) \(package) main") == "<module> +5 +8 main")
    }

    @Test func `other ways into importlib vanish with the import`() {
        let list = "_call_with_frames_removed@B _handle_fromlist@B"
        #expect(Self.shown("<module> \(Self.source) \(list) main") == "<module> +5 main")
        #expect(
            Self.shown("<module> \(Self.source) _gcd_import@B import_module main")
                == "<module> +5 import_module main")
    }

    @Test func `importlib at work stays`() {
        let finding = "_path_stat@X find_spec@X _find_spec@B"
        let load = "_find_and_load_unlocked@B _find_and_load@B"
        #expect(
            Self.shown("(stat) \(finding) \(load) main")
                == "(stat) \(finding) _find_and_load_unlocked@B +5 main")
        let compiling = "_call_with_frames_removed@B source_to_code@X get_code@X exec_module@X"
        #expect(
            Self.shown("(compile) \(compiling) _load_unlocked@B \(load) main")
                == "(compile) \(compiling) _load_unlocked@B _find_and_load_unlocked@B +7 main")
        // Inside of another module's import.
        #expect(
            Self.shown("(stat) \(finding) \(load) <module> \(Self.source) main")
                == "(stat) \(finding) _find_and_load_unlocked@B +5 <module> +11 main")
    }

    @Test func `what C does for a module is the module's`() {
        let make = "_call_with_frames_removed@B create_module@X module_from_spec@B "
        let load = "_load_unlocked@B _find_and_load_unlocked@B _find_and_load@B"
        #expect(Self.shown("(init) (dlopen) \(make)\(load) main") == "(init) (dlopen) +7 main")
        #expect(Self.shown("(run) \(Self.source) main") == "(run) +5 main")
    }

    @Test func `finders of programs are not importlib's`() {
        #expect(
            Self.shown("find_spec _find_spec@B _find_and_load_unlocked@B _find_and_load@B main")
                == "find_spec +3 main")
    }

    @Test func `waiting for another thread's import is not importing`() {
        let manager = "acquire@B __enter__@B _find_and_load@B"
        #expect(Self.shown("(futex) \(manager) main") == "(futex) ?3 main")
        #expect(Self.shown("(futex) acquire@B _lock_unlock_module@B main") == "(futex) ?2 main")
    }

    @Test func `importlib's functions without an import stay`() {
        #expect(
            Self.shown("<module> _call_with_frames_removed@B exec_module@X main")
                == "<module> _call_with_frames_removed@B exec_module@X main")
        #expect(Self.shown("_handle_fromlist@B main") == "_handle_fromlist@B main")
        #expect(Self.shown("") == "")
    }
}
