import Measurer
import Testing

@Suite struct PaddingTests {
    @Test func padding() {
        let padding = EnvironmentPadding(size: 3)
        #expect(padding.entry == "FIRSTLIGHT_LAYOUT=000")
        #expect(EnvironmentPadding(size: 0).value.isEmpty)
    }
}
