import CSQLite

/// Owns a changegroup, which combines changesets or patchsets: <https://www.sqlite.org/session/changegroup.html>.
package struct ChangegroupHandle: ~Copyable {
    private let pointer: OpaquePointer

    /// The corresponding C function is `sqlite3changegroup_new`.
    ///
    /// - returns: nil for lack of memory.
    package init?() {
        var pointer: OpaquePointer?
        guard sqlite3changegroup_new(&pointer) == SQLITE_OK, let pointer else { return nil }
        self.pointer = pointer
    }

    /// The corresponding C function is `sqlite3changegroup_add`.
    package borrowing func add(_ changeset: [UInt8]) -> CInt {
        changeset.withUnsafeBytes {
            sqlite3changegroup_add(pointer, CInt($0.count), UnsafeMutableRawPointer(mutating: $0.baseAddress))
        }
    }

    /// The corresponding C function is `sqlite3changegroup_output`.
    package borrowing func output() -> (code: CInt, bytes: [UInt8]) {
        ChangesetCalls.bytes { sqlite3changegroup_output(pointer, &$0, &$1) }
    }

    deinit { sqlite3changegroup_delete(pointer) }
}

/// Owns a rebaser: <https://www.sqlite.org/session/rebaser.html>.
package struct RebaserHandle: ~Copyable {
    private let pointer: OpaquePointer

    /// The corresponding C function is `sqlite3rebaser_create`.
    ///
    /// - returns: nil for lack of memory.
    package init?() {
        var pointer: OpaquePointer?
        guard sqlite3rebaser_create(&pointer) == SQLITE_OK, let pointer else { return nil }
        self.pointer = pointer
    }

    /// Adds what an application has done about conflicts. The corresponding C function is `sqlite3rebaser_configure`.
    package borrowing func configure(_ rebase: [UInt8]) -> CInt {
        rebase.withUnsafeBytes { sqlite3rebaser_configure(pointer, CInt($0.count), $0.baseAddress) }
    }

    /// The corresponding C function is `sqlite3rebaser_rebase`.
    package borrowing func rebase(_ changeset: [UInt8]) -> (code: CInt, bytes: [UInt8]) {
        changeset.withUnsafeBytes { changeset in
            ChangesetCalls.bytes {
                sqlite3rebaser_rebase(pointer, CInt(changeset.count), changeset.baseAddress, &$0, &$1)
            }
        }
    }

    deinit { sqlite3rebaser_delete(pointer) }
}
