import Foundation
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// The compression of a package list, by the end of its name.
enum Compression: String, CaseIterable, Sendable {
    case gz, xz, lzma, lz4, zst, bz2

    /// Nil if the file isn't compressed.
    init?(path: String) {
        guard let compression = Self.allCases.first(where: { path.hasSuffix(".\($0)") }) else { return nil }
        self = compression
    }

    /// The program that decompresses its standard input.
    var programName: String {
        switch self {
        case .gz: "gzip"
        case .xz, .lzma: "xz"
        case .lz4: "lz4"
        case .zst: "zstd"
        case .bz2: "bzip2"
        }
    }

    /// The program that decompresses a file; nil if this machine has none.
    ///
    /// Debian's apt compresses its lists with libraries, so a machine may have lists without the program.
    func program(for path: String) async -> ReadingProgram? {
        if let found = await ReadingProgram(programName, arguments: ["-dc"]) { return found }
        // Of a gzip file, apt's program accepts one that is cut off, or isn't compressed.
        guard self != .gz else { return nil }
        return await ReadingProgram("/usr/lib/apt/apt-helper", arguments: ["cat-file"])?.opening(path)
    }
}

/// A program that writes the text of a file to its standard output.
struct ReadingProgram: Sendable {
    let executable: Executable
    let name: String
    private(set) var arguments: [String]
    /// Whether it opens the file itself, rather than reading its standard input.
    private(set) var opensFile = false

    static let cat = ReadingProgram(executable: .name("cat"), name: "cat", arguments: [])

    func opening(_ path: String) -> ReadingProgram {
        var program = self
        // A path is not an option.
        program.arguments.append(path.hasPrefix("-") ? "./" + path : path)
        program.opensFile = true
        return program
    }
}

extension ReadingProgram {
    /// Nil if the program isn't installed.
    init?(_ nameOrPath: String, arguments: [String]) async {
        let path = FilePath(nameOrPath)
        let executable: Executable = path.isAbsolute ? .path(path) : .name(nameOrPath)
        if path.isAbsolute {
            guard FileManager.default.isExecutableFile(atPath: nameOrPath) else { return nil }
        } else {
            guard (try? await executable.resolveExecutablePath(in: .inherit)) != nil else { return nil }
        }
        self.init(executable: executable, name: path.lastComponent?.string ?? nameOrPath, arguments: arguments)
    }
}
