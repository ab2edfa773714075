import ProfileModel

/// A frame of one of the launches of a side. That launch's tables know its place in the source.
package struct SeenFrame: Hashable, Sendable {
    /// The launch's position among those of its side.
    package var launch: Int
    package var frame: FrameID

    package init(launch: Int, frame: FrameID) {
        (self.launch, self.frame) = (launch, frame)
    }
}

extension Compared<[Profile]> {
    package func frame(_ seen: SeenFrame, _ side: Side) -> Frame {
        self[side][seen.launch].frames[seen.frame]
    }
}
