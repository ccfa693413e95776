import Foundation
import Subprocess
import Synchronization
import Testing

@testable import PackageCatalog

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// Files as they are found on machines: plain, compressed, damaged, cut off, named pipes.
@Suite(.timeLimit(.minutes(2))) struct ControlFileTests {
    /// A control file's text, and the number of bytes after each block.
    private static func read(_ file: ControlFile) async throws -> (text: [UInt8], positions: [Int]) {
        var (text, positions): ([UInt8], [Int]) = ([], [])
        try await file.read { block in
            text += block.text
            positions.append(block.bytesRead)
        }
        return (text, positions)
    }

    /// Some megabytes of random numbers, so that a compressed file is long, too.
    private static let text: String = {
        var generator = SystemRandomNumberGenerator()
        return (0..<20_000).map { number in
            "Package: p\(number)\nVersion: \(generator.next())\nDescription: \(generator.next()) \(generator.next())\n"
        }.joined(separator: "\n")
    }()

    @Test func plain() async throws {
        let folder = try TemporaryFolder()
        let file = try await ControlFile(folder.file("status", Self.text))
        #expect(file.byteCount == Self.text.utf8.count)
        let (text, positions) = try await Self.read(file)
        #expect(text == Array(Self.text.utf8))
        #expect(positions == positions.sorted() && positions.last == file.byteCount)
        #expect(positions.count > 20)
        // A file can be read again.
        #expect(try await Self.read(file).text == text)
    }

    @Test func emptyAndUnusualNames() async throws {
        let folder = try TemporaryFolder()
        #expect(try await Self.read(ControlFile(folder.file("empty", ""))).text == [])
        #expect(try await Self.read(ControlFile(folder.file("-c 'x' $(y)\n", "Package: a\n"))).text.count == 11)
    }

    @Test(arguments: Compression.allCases) func compressed(_ compression: Compression) async throws {
        let folder = try TemporaryFolder()
        guard let path = try await folder.compressed(Self.text, by: compression) else { return }
        let file = try await ControlFile(path)
        let size = try #require(bytes(path)?.count)
        #expect(file.byteCount == size && size < Self.text.utf8.count)
        let (text, positions) = try await Self.read(file)
        #expect(text == Array(Self.text.utf8))
        #expect(positions == positions.sorted() && positions.last == size)
        #expect(positions.count > 20)
    }

    /// Debian's program for apt's own lists, where the decompressor is missing.
    @Test func aptDecompresses() async throws {
        let apt = "/usr/lib/apt/apt-helper"
        guard FileManager.default.isExecutableFile(atPath: apt) else {
            print("ControlFileTests.aptDecompresses: skipped: there is no \(apt)")
            return
        }
        let folder = try TemporaryFolder()
        let database = folder.path + "/c.sqlite"
        for compression in [Compression.xz, .lz4, .zst] {
            guard let path = try await folder.compressed(stanzas(12), by: compression) else { continue }
            let run = try CatalogProcess(["--database", database, path], in: folder, programs: ["cat"])
            #expect(await run.status() == 0, "\(run.error)")
            #expect(run.output.contains("12 packages: "))
            try Data(bytes(path)!.dropLast(20)).write(to: URL(fileURLWithPath: path))
            let cut = try CatalogProcess(["--database", database, path], in: folder, programs: ["cat"])
            #expect(await cut.status() == 1)
            #expect(cut.error.contains("catalog: \(path): can't be read: apt-helper failed: E: "))
        }
    }

    /// Only the other files are imported.
    @Test func aMissingProgram() async throws {
        let folder = try TemporaryFolder()
        let (database, plain) = (folder.path + "/c.sqlite", try folder.file("status", stanzas(12)))
        let compressed = try folder.file("Packages.gz", "whatever")
        let message = "catalog: \(compressed): can't be read: gzip, which decompresses it, is not installed\n"
        let run = try CatalogProcess(["--database", database, compressed, plain], in: folder, programs: ["cat"])
        #expect(await run.status() == 0)
        #expect(run.error.hasPrefix(message))
        #expect(run.output.contains("12 packages: 12 new"))
        let alone = try CatalogProcess(["--database", database, compressed], in: folder, programs: ["cat"])
        #expect(await alone.status() == 1)
        #expect(alone.error == message)
    }

    @Test(arguments: Compression.allCases) func damagedAndCutOff(_ compression: Compression) async throws {
        let folder = try TemporaryFolder()
        guard let path = try await folder.compressed(Self.text, by: compression), let whole = bytes(path) else {
            return
        }
        let failure = "can't be read: \(compression.programName) failed: "
        // The end of the file is lost.
        try Data(whole.prefix(whole.count / 2)).write(to: URL(fileURLWithPath: path))
        let cut = await #expect(throws: CatalogError.self) { try await Self.read(ControlFile(path)) }
        #expect(cut?.description.hasPrefix("\(path): \(failure)") == true, "\(cut as Any)")
        // The file is of another format.
        try Data(Self.text.utf8).write(to: URL(fileURLWithPath: path))
        let other = await #expect(throws: CatalogError.self) { try await Self.read(ControlFile(path)) }
        #expect(other?.description.hasPrefix("\(path): \(failure)") == true, "\(other as Any)")
        #expect(other?.description.hasSuffix(")") == true && other?.description.contains("\n") == false)
        // Nothing of the file has arrived.
        try Data().write(to: URL(fileURLWithPath: path))
        await #expect(throws: CatalogError.unreadableInput(path: path, reason: "it is empty, and not compressed")) {
            try await Self.read(ControlFile(path))
        }
    }

    /// The packages before the damage are kept, none is removed, and importing the repaired file completes it.
    @Test func anImportOfADamagedFile() async throws {
        let folder = try TemporaryFolder()
        guard let path = try await folder.compressed(stanzas(3000), by: .gz), let whole = bytes(path) else { return }
        let database = try folder.file("c.sqlite")
        try Data(whole.prefix(whole.count / 2)).write(to: URL(fileURLWithPath: path))
        let run = try CatalogProcess(["--database", database, path], in: folder)
        #expect(await run.status() == 1)
        let kept = try #require(try packages(in: database))
        #expect(kept > 0 && kept < 3000)
        let message = "\(path): can't be read: gzip failed: gzip: stdin: unexpected end of file (exit status 1)"
        #expect(
            run.error.hasSuffix("catalog: \(message); \(database) keeps the \(kept.grouped) packages stored before\n"))
        try whole.write(to: URL(fileURLWithPath: path))
        let again = try CatalogProcess(["--database", database, path], in: folder)
        #expect(await again.status() == 0)
        #expect(
            again.output.contains("3,000 packages: \((3000 - kept).grouped) new, \(kept.grouped) updated, 0 removed"))
    }

    @Test func filesThatCannotBeRead() async throws {
        let folder = try TemporaryFolder()
        for (path, reason) in [
            (folder.path + "/missing", "No such file or directory"), (folder.path, "Is a directory"),
            (folder.path + "/missing.xz", "No such file or directory"),
        ] {
            await #expect(throws: CatalogError.unreadableInput(path: path, reason: reason)) {
                try await ControlFile(path)
            }
        }
        let gone = try await ControlFile(folder.file("gone", "Package: a\n"))
        try FileManager.default.removeItem(atPath: gone.name)
        await #expect(throws: CatalogError.unreadableInput(path: gone.name, reason: "No such file or directory")) {
            try await Self.read(gone)
        }
        let pipe = try folder.pipe("pipe.gz")
        let error = await #expect(throws: CatalogError.self) { try await ControlFile(pipe) }
        #expect(error?.description.contains("it is compressed, and not a regular file: ") == true)
    }

    /// Its length isn't known, and the writer may come late.
    @Test func aNamedPipe() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.pipe("pipe")
        let file = try await ControlFile(path)
        #expect(file.byteCount == nil)
        async let result = Self.read(file)
        _ = await Self.reader(of: file)
        let source = try folder.file("source", Self.text)
        let writer = try await run(
            .name("sh"), arguments: ["-c", "cat \"$0\" > \"$1\"", source, path], output: .discarded)
        #expect(writer.terminationStatus.isSuccess)
        let (text, positions) = try await result
        #expect(text == Array(Self.text.utf8))
        #expect(positions.last == text.count)
    }

    /// Nothing ever opens the pipe for writing.
    @Test func cancellationOfAPipeWithoutWriter() async throws {
        let folder = try TemporaryFolder()
        let file = try await ControlFile(folder.pipe("pipe"))
        let task = Task { try await Self.read(file) }
        let reader = await Self.reader(of: file)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!Self.exists(reader))
    }

    /// A consumer's error ends the program, whose output isn't read any more.
    @Test func anErrorOfTheConsumer() async throws {
        struct Enough: Error {}
        let folder = try TemporaryFolder()
        let file = try await ControlFile(folder.file("status", Self.text))
        let reader = Mutex("")
        await #expect(throws: Enough.self) {
            try await file.read { _ in
                let found = await Self.reader(of: file)
                reader.withLock { $0 = found }
                throw Enough()
            }
        }
        #expect(!Self.exists(reader.withLock(\.self)))
    }

    /// The executable waits for a pipe when Ctrl-C comes to it and to the program that reads, as in a terminal.
    @Test func controlCOfAProcessGroup() async throws {
        let folder = try TemporaryFolder()
        let (path, pipe) = (try folder.file("c.sqlite"), try folder.pipe("pipe"))
        let first = try folder.file("status", stanzas(15))
        let process = try CatalogProcess(["--database", path, "--batch-size", "10", first, pipe], in: folder)
        // The first file has been imported when the second one is read.
        #expect(try await Self.reader(of: ControlFile(pipe)) != "")
        try process.interruptGroup()
        #expect(await process.status() == 130)
        let kept = "\(path) keeps the 15 packages stored before"
        let message = "catalog: interrupted: the open transaction was rolled back; \(kept)\n"
        #expect(process.error.hasSuffix(message), "\(process.error)")
        #expect(try packages(in: path) == 15)
    }

    /// The id of the program that reads a file for this process, once it does.
    private static func reader(of file: ControlFile) async -> String {
        while !Task.isCancelled {
            for id in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] where Int(id) != nil {
                // The program's name and arguments, ended by zeros; its standard input.
                let arguments = bytes("/proc/\(id)/cmdline").map { String(decoding: $0, as: UTF8.self) } ?? ""
                let input = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/fd/0")
                guard arguments.hasPrefix("cat\0") || arguments.contains("/cat\0") else { continue }
                if input == file.name || arguments.contains("\0\(file.name)\0") { return id }
            }
            await Task.yield()
        }
        return ""
    }

    /// Whether a process exists, or has ended and nothing has waited for it.
    private static func exists(_ id: String) -> Bool { FileManager.default.fileExists(atPath: "/proc/\(id)") }
}
