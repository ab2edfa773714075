import EndToEndSupport
import Testing

/// All end-to-end tests. They run the program that users install, named by the environment variable
/// FIRSTLIGHT, on the programs in FIXTURES and STARS. `make test` builds and sets all of these.
///
/// What they expect holds on a machine that is slow or busy. Sampled figures are compared with clocks by
/// `make truth` (Tests/TruthTests).
///
/// Without the variable they are skipped, but in continuous integration (CI is `true`) they fail.
@Suite(
    Width(),
    .requires(
        Setup.names(.firstlight), "FIRSTLIGHT does not name the program to test; run 'make test'"))
enum EndToEnd {}
