import CSQLite

/// The functions that ask the system for a file system.
package enum FileSystemCalls {
    /// The number of the kind of file system that a file is on; nil if it can't be found out. The corresponding C
    /// function is `statfs`.
    package static func type(ofFile path: UnsafePointer<CChar>) -> UInt32? {
        let type = csqlite_file_system_type(path)
        return type < 0 ? nil : UInt32(truncatingIfNeeded: type)
    }
}
