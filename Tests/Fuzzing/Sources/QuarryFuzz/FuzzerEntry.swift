import Foundation
import FuzzProperties

/// The target that `FUZZ_TARGET` names.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        preconditionFailure("FUZZ_TARGET is one of \(names), not \"\(name)\"")
    }
    return target
}()

/// Called by libFuzzer with one input: <https://llvm.org/docs/LibFuzzer.html#fuzz-target>.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        FileHandle.standardError.write(Data("\(target.rawValue): \(error)\n".utf8))
        preconditionFailure("\(error)")
    }
    return 0
}
