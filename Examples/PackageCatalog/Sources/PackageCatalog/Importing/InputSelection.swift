import Foundation

/// The control files to import, and the errors of those that are left out.
public struct InputSelection: Sendable {
    public var files: [ControlFile] = []
    public var skipped: [any Error] = []

    /// The files given, or where none is given the machine's own. Files that nothing on this machine can decompress are
    /// left out.
    ///
    /// - parameter skippingUnreadable: whether other files that can't be read are left out, too.
    /// - throws: `CatalogError.noInput`, which says where it looked; unless unreadable files are left out,
    ///   `unreadableInput`, and `missingProgram` if no file is left.
    public init(
        given: [String], machine: MachineFiles = .debian, skippingUnreadable: Bool = false
    ) async throws {
        let paths = given.isEmpty ? try machine.files() : given
        guard !paths.isEmpty else { throw CatalogError.noInput(looked: machine.places) }
        for path in paths {
            do {
                files.append(try await ControlFile(path))
            } catch let error as CatalogError {
                guard skippingUnreadable || error.isMissingProgram else { throw error }
                skipped.append(error)
            }
        }
        if skippingUnreadable { return }
        if files.isEmpty, let error = skipped.first { throw error }
    }
}

extension CatalogError {
    fileprivate var isMissingProgram: Bool {
        if case .missingProgram = self { true } else { false }
    }
}

/// Where a Debian machine keeps its package database and the lists of what it could install.
public struct MachineFiles: Sendable {
    var status: String
    var lists: String

    public static let debian = MachineFiles(status: "/var/lib/dpkg/status", lists: "/var/lib/apt/lists")

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
