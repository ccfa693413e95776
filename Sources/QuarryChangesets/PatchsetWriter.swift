import QuarryCore

/// Writes the changes of a changeset as a patchset: see `ChangesetReader` for the format.
struct PatchsetWriter {
    private(set) var bytes: [UInt8] = []
    private var table: ChangesetReader.Table?

    /// Appends a change that a reader of these bytes has read.
    mutating func append(_ change: ChangesetReader.StoredChange, _ source: [UInt8]) {
        if table != change.table { appendHeader(change.table) }
        bytes += [UInt8(change.kind.rawValue), change.isIndirect ? 1 : 0]
        for (index, keyPosition) in change.table.primaryKeyPositions.enumerated() {
            switch change.kind {
            case .insert: append(change.new[index], source)
            case .delete: if keyPosition != 0 { append(change.old[index], source) }
            case .update: append(keyPosition != 0 ? change.old[index] : change.new[index], source)
            }
        }
    }

    private mutating func append(_ place: Range<Int>?, _ source: [UInt8]) {
        guard let place else { return bytes.append(0) }
        bytes += source[place]
    }

    private mutating func appendHeader(_ table: ChangesetReader.Table) {
        self.table = table
        bytes.append(ChangesetReader.Format.patchset.rawValue)
        appendLength(table.primaryKeyPositions.count)
        bytes += table.primaryKeyPositions
        bytes += table.name.utf8
        bytes.append(0)
    }

    /// An integer of variable length: <https://www.sqlite.org/fileformat.html#varint>.
    private mutating func appendLength(_ length: Int) {
        var groups: [UInt8] = []
        var rest = length
        repeat {
            groups.append(UInt8(rest & 0x7F) | (groups.isEmpty ? 0 : 0x80))
            rest >>= 7
        } while rest > 0
        bytes += groups.reversed()
    }
}
