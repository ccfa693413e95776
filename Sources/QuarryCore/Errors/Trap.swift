#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Ends the process with a message: for subscripts that can't throw and have no value to give (`row["missing"] as Int`).
///
/// GRDB's call sites have such subscripts; `Row.decode` throws instead. A precondition alone would end a release build without a word.
@inline(never)
@usableFromInline
func trap(_ message: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line) -> Never {
    let text = message()
    fputs("Quarry: \(text)\n", stderr)
    preconditionFailure(text, file: file, line: line)
}
