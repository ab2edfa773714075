import Testing

@testable import Symbolicate

/// Names that Emacs and OCaml encode.
@Suite struct EncodedNameTests {
    @Test(arguments: [
        ("F6c6f61642d7468656d65_load_theme_0", "load-theme"),
        ("F782d776974682d74696d653f_x_with_time_12", "x-with-time?"),
        ("camlStdlib__List__map_405", "Stdlib.List.map"),
        ("camlDune__exe__Main__fun_1234", "Dune.exe.Main.fun"),
    ])
    func readable(name: String, wanted: String) { #expect(Demangler.readable(name) == wanted) }

    @Test(arguments: [
        "F", "F_", "F6c_", "F6c_l_", "F6c_k_0", "F6_l_0", "Fzz_l_0", "Fff_f_0", "F6c_l_0x",
        "Fade_in_0",
        "caml_alloc_1", "camlStdlib", "camlMain_1", "camlStdlib__", "caml", "camlA__b_c",
    ])
    func others(name: String) { #expect(Demangler.readable(name) == name) }
}
