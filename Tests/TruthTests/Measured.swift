import EndToEndSupport
import Testing

/// Figures of the program that users install, compared with clocks and with other tools. `make
/// truth` runs these cases one after the other; `make test` does not build them. Tests of structure
/// (names, order, sums, statuses) belong in EndToEndTests.
@Suite(
    .serialized,
    .requires(Setup.names(.firstlight), "FIRSTLIGHT does not name the program; run 'make truth'"))
enum Measured {}
