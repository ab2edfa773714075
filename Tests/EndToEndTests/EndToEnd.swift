import EndToEndSupport
import Testing

/// All end-to-end tests. They run the program that users install, named by the environment variable
/// FIRSTLIGHT, on the programs in FIXTURES and STARS. `make test` builds and sets all of these.
///
/// Their expectations hold on a slow or busy machine. `make truth` (Tests/TruthTests) compares
/// sampled figures with clocks.
///
/// Without the variable they are skipped, but in continuous integration (CI is `true`) they fail.
@Suite(
    Width(),
    .requires(
        Setup.names(.firstlight), "FIRSTLIGHT does not name the program to test; run 'make test'"))
enum EndToEnd {}
