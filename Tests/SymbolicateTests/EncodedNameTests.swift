import Testing

@testable import Symbolicate

/// Names that compilers of other languages than C++, Rust and Swift encode.
@Suite struct EncodedNameTests {
    @Test(arguments: [
        ("F6c6f61642d7468656d65_load_theme_0", "load-theme"),
        ("F782d776974682d74696d653f_x_with_time_12", "x-with-time?"),
        ("camlStdlib__List__map_405", "Stdlib.List.map"),
        ("camlDune__exe__Main__fun_1234", "Dune.exe.Main.fun"),
        ("Main_fib_info", "Main.fib"),
        ("Main_zdwgo16_info", "Main.$wgo16"),
        ("ZCMain_main_closure", ":Main.main"),
        ("base_GHCziBase_map_info", "GHC.Base.map"),
        ("ghczmprim_GHCziTuple_Z2T_con_info", "GHC.Tuple.(,)"),
        ("ghczmprim_GHCziTypes_ZMZN_closure", "GHC.Types.[]"),
        ("containerszm0zi6zi5zi1_DataziMapziInternal_insert_entry", "Data.Map.Internal.insert"),
        ("aesonzm2_DataziAeson_zlzbzg_info", "Data.Aeson.<|>"),
        ("base_GHCziUnicode_z3bbU_info", "GHC.Unicode.\u{3bb}"),
        ("_D3std5stdio4File5writeMFZv", "std.stdio.File.write()"),
        ("_Dmain", "D main"),
    ])
    func readable(name: String, wanted: String) { #expect(Demangler.readable(name) == wanted) }

    @Test(arguments: [
        "F", "F_", "F6c_", "F6c_l_", "F6c_k_0", "F6_l_0", "Fzz_l_0", "Fff_f_0", "F6c_l_0x",
        "Fade_in_0",
        "Resizze_window_info", "Resize_window_info", "SSL_get_info", "GHCziBase_info",
        "X_y_z_w_info",
        "base_GHCziBase_zy_info", "base_GHCziBase_Z9_info", "base_GHCziBase_z110000U_info",
        "base_GHCziBase_info", "baze_lower_map_info", "Main__info", "_D", "_D3", "_D99std_MFZv",
        "caml_alloc_1", "camlStdlib", "camlMain_1", "camlStdlib__", "caml", "camlA__b_c",
    ])
    func others(name: String) { #expect(Demangler.readable(name) == name) }

    /// A name of D doubles with each reference back: longer chains are shown as they are.
    @Test func referencesBackAreBounded() {
        let name = "_D1a1bFS1cQ" + String(repeating: "Qc", count: 24) + "Zv"
        #expect(Demangler.readable(name) == name)
    }

    @Test(arguments: [
        (NameScheme.nim, "fib__f_1", "f.fib"),
        (.nim, "addInt__stdZprivateZdigitsutils_164", "std/private/digitsutils.addInt"),
        (.nim, "X5BX5Deq___f_22", "f.[]="), (.nim, "plus___f_u22", "f.+"),
        (.nim, "colonanonymous___f_12", "f.:anonymous"),
        (.ada, "_ada_main", "main"), (.ada, "work__fib", "work.fib"),
        (.ada, "work__fib__inner.0", "work.fib.inner"), (.ada, "work__Oadd", #"work."+""#),
        (.ada, "ada__text_io__put_line__2", "ada.text_io.put_line"),
        (.ada, "work___elabb", "work'Elab_Body"),
    ])
    func byTheFile(scheme: NameScheme, name: String, wanted: String) {
        #expect(NameScheme.mayApply(to: name))
        #expect(scheme.readable(name) == wanted)
    }

    @Test(arguments: [
        (NameScheme.nim, "a__b"), (.nim, "__f_1"), (.nim, "a__b_c"), (.nim, "a_b__c_1"), (.nim, ""),
        (.ada, "work__tDA"), (.ada, "work__TtCFD"), (.ada, "__gnat_malloc"), (.ada, ""),
        (.ada, "_ada_"),
    ])
    func notByTheFile(scheme: NameScheme, name: String) { #expect(scheme.readable(name) == nil) }

    /// C functions may be called so: without a symbol of the language, a name stays as it is.
    @Test func aFileSaysItsLanguage() {
        #expect(NameScheme { _ in false } == nil)
        #expect(NameScheme { "\($0)" == "NimMain" } == .nim)
        #expect(NameScheme { "\($0)" == "__gnat_initialize" } == .ada)
        #expect(!NameScheme.mayApply(to: "__libc_start") && !NameScheme.mayApply(to: "plain"))
    }
}
