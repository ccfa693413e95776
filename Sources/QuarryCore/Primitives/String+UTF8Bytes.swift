extension String {
    /// Calls a closure with the UTF-8 bytes of this text, which is made contiguous for that.
    ///
    /// This does what `withUTF8` of the standard library does, and the modules that `import Quarry` compiles call that
    /// nowhere else: the compiler copies 8 kB of the standard library into each file with such a call, even in a debug
    /// build. Inlinable, so that it costs nothing in a release build.
    @inlinable
    package mutating func withUTF8Bytes<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        try withUTF8(body)
    }
}
