import Foundation

/// The control files to import, and those that can't be read as they are.
struct InputSelection: Sendable, Equatable {
    var files: [String]
    var compressed: [String]

    /// The files given, or where none is given the machine's own.
    ///
    /// - throws: `CatalogError.noInput`, which says where it looked; `unreadableInput`.
    init(given: [String], machine: MachineFiles = .debian) throws {
        let all = given.isEmpty ? try machine.files() : given
        files = all.filter { !Self.isCompressed($0) }
        compressed = all.filter(Self.isCompressed)
        guard files.isEmpty else { return }
        if let path = given.first {
            throw CatalogError.unreadableInput(
                path: path, reason: "it is compressed: decompress it into standard input, and give - as the file")
        }
        throw CatalogError.noInput(looked: machine.places)
    }

    private static func isCompressed(_ path: String) -> Bool {
        [".gz", ".lz4", ".xz", ".bz2", ".zst", ".lzma"].contains(where: path.hasSuffix)
    }
}

/// Where a Debian machine keeps its package database and the lists of what it could install.
struct MachineFiles: Sendable {
    var status: String
    var lists: String

    static let debian = MachineFiles(status: "/var/lib/dpkg/status", lists: "/var/lib/apt/lists")

    var places: [String] { [status, lists + "/*_Packages"] }

    /// The status file first: what is installed matters more than what could be.
    func files() throws -> [String] {
        let manager = FileManager.default
        let found = manager.fileExists(atPath: status) ? [status] : []
        guard manager.fileExists(atPath: lists) else { return found }
        do {
            let names = try manager.contentsOfDirectory(atPath: lists).sorted()
            return found + names.filter { $0.contains(/_Packages(\.[a-z0-9]+)?$/) }.map { lists + "/" + $0 }
        } catch {
            throw CatalogError.unreadableInput(path: lists, reason: error.localizedDescription)
        }
    }
}
