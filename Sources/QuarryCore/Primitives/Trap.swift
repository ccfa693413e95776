#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Ends the process with a message, for subscripts that can't throw and have no value to return (`row["missing"] as
/// Int`).
///
/// GRDB's call sites have such subscripts; `Row.decode` throws instead. In a release build, a precondition alone would
/// end the process without a message.
@inline(never)
@usableFromInline
package func trap(_ message: @autoclosure () -> String, file: StaticString = #file, sourceLine: UInt = #line) -> Never {
    let text = message()
    var line = "Quarry: \(text)\n"
    line.withUTF8Bytes { _ = write(2, $0.baseAddress, $0.count) }
    preconditionFailure(text, file: file, line: sourceLine)
}
