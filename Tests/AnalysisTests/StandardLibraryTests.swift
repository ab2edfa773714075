import Testing

@testable import Analysis

/// Functions of a language's own library, though they are in the developer's file.
@Suite struct StandardLibraryTests {
    @Test(arguments: [
        "std::vector<int, std::allocator<int> >::push_back(int const&)",
        "void std::__fill_a<unsigned int*, unsigned int>(unsigned int*, unsigned int*, unsigned int const&)",
        "__gnu_cxx::__promote_2<double, double>::__type std::fmax<double, int>(double, int)",
        "std::operator==(std::string const&, char const*)",
        "core::ptr::drop_in_place<app::State>", "<alloc::vec::Vec<T> as core::clone::Clone>::clone",
        "Swift.Array.append(__owned τ_0_0) -> ()",
        "generic specialization <Swift.Int> of Swift.Array.append(__owned A) -> ()",
    ])
    func itsOwn(name: String) { #expect(StandardLibrary.contains(name, file: nil)) }

    @Test(arguments: [
        "main", "load(std::string const&)", "app::stdlib::read()", "stdx::read()",
        "std_read", "std::vector<int> app::rows(int)", "<app::State as core::fmt::Debug>::fmt",
        "app::of(Swift)", "", "<", ">", "(", "a (b", "operator new(unsigned long)",
    ])
    func theDevelopers(name: String) { #expect(!StandardLibrary.contains(name, file: nil)) }

    /// In Go the package decides; the same names elsewhere may be the developer's.
    @Test func packagesOfGo() {
        for name in ["runtime.mallocgc", "regexp.(*Regexp).FindString", "encoding/json.Marshal"] {
            #expect(StandardLibrary.contains(name, file: "/usr/lib/go-1.19/src/x.go"))
            #expect(!StandardLibrary.contains(name, file: "/home/dev/x.c"))
        }
        // The runtime's parts in assembler.
        #expect(
            StandardLibrary.contains("runtime.goexit.abi0", file: "/usr/lib/go/src/asm_amd64.s"))
        #expect(!StandardLibrary.contains("sort", file: "/home/dev/sort.s"))
        for name in [
            "main.init.0", "example.com/regexp.Compile", "myapp/time.Now", "github.com/a/b.F",
        ] {
            #expect(!StandardLibrary.contains(name, file: "/home/dev/main.go"))
        }
    }
}
