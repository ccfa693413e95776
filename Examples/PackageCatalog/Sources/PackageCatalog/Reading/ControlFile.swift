import Foundation
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// A control file: a regular file, which may be compressed, a named pipe, or standard input as `-`.
///
///     let file = try await ControlFile("/var/lib/apt/lists/debian_Packages.lz4")
///     try await file.read { block in … }
///
/// A program reads the file and writes its text into a pipe: `cat`, or the program that decompresses it. So no thread
/// of this process waits for a disk or for the writer of a named pipe, and a read that would never end is cancelled by
/// killing the program.
public struct ControlFile: ControlFileSource {
    public let name: String
    public let byteCount: Int?
    private let reader: ReadingProgram

    /// - throws: `CatalogError.unreadableInput`; `CatalogError.missingProgram` if nothing on this machine can
    ///   decompress it.
    public init(_ path: String) async throws {
        name = path
        guard path != "-" else {
            (byteCount, reader) = (nil, .cat)
            return
        }
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { throw Self.unreadable(path, errno) }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw Self.unreadable(path, EISDIR) }
        guard let compression = Compression(path: path) else {
            reader = kind == S_IFREG ? .cat : .cat.opening(path)
            byteCount = kind == S_IFREG ? Int(status.st_size) : nil
            return
        }
        guard kind == S_IFREG else {
            let advice = "pipe it through a program that decompresses it, and give - as the file"
            throw CatalogError.unreadableInput(
                path: path, reason: "it is compressed, and not a regular file: \(advice)")
        }
        // No format has an empty file, yet lz4 accepts it.
        guard status.st_size > 0 else {
            throw CatalogError.unreadableInput(path: path, reason: "it is empty, and not compressed")
        }
        guard let program = await compression.program(for: path) else {
            throw CatalogError.missingProgram(path: path, program: compression.programName)
        }
        reader = program
        byteCount = program.opensFile ? nil : Int(status.st_size)
    }

    public func read(_ consume: (ControlFileBlock) async throws -> Void) async throws {
        guard byteCount != nil else { return try await read(from: .standardInput, consume) }
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(name, .readOnly, options: .closeOnExec)
        } catch {
            throw CatalogError.unreadableInput(path: name, reason: "\(error)")
        }
        defer { try? file.close() }
        try await read(from: file, consume)
    }

    /// - parameter input: the program's standard input. The position of a regular file tells how far the program is.
    private func read(
        from input: FileDescriptor, _ consume: (ControlFileBlock) async throws -> Void
    ) async throws {
        let program: String = reader.name
        let ended: (status: TerminationStatus, errors: String)
        do {
            let result = try await run(
                reader.executable, arguments: Arguments(reader.arguments),
                environment: .inherit.updating(["LC_ALL": "C"]),
                input: .fileDescriptor(input, closeAfterSpawningProcess: false), output: .sequence,
                error: .string(limit: 1 << 16)
            ) { execution in
                var textLength = 0
                for try await buffer in execution.standardOutput {
                    let text = buffer.withUnsafeBytes { [UInt8]($0) }
                    textLength += text.count
                    let position = byteCount == nil ? textLength : Int(try input.seek(offset: 0, from: .current))
                    try await consume(ControlFileBlock(text: text, bytesRead: position))
                }
            }
            ended = (result.terminationStatus, result.standardError)
        } catch let error as SubprocessError {
            throw CatalogError.unreadableInput(path: name, reason: "\(program): \(error)")
        }
        // A cancelled task's program is killed, and its output ends like any other.
        try Task.checkCancellation()
        switch ended.status {
        case .exited(0): return
        // A terminal's Ctrl-C goes to this process and to the program.
        case .signaled(SIGINT): throw CancellationError()
        case .exited(let status): throw failure(of: program, "exit status \(status)", ended.errors)
        case .signaled(let signal): throw failure(of: program, "signal \(signal)", ended.errors)
        }
    }

    private func failure(of program: String, _ status: String, _ errors: String) -> CatalogError {
        let lines = errors.split(separator: "\n").map { $0.trimmingPrefix(/\s+/) }
        return .unreadableInput(path: name, reason: "\(program) failed: \(lines.first ?? "") (\(status))")
    }

    private static func unreadable(_ path: String, _ code: Int32) -> CatalogError {
        .unreadableInput(path: path, reason: String(cString: strerror(code)))
    }
}
