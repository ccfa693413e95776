package import Foundation

/// A sum over a pass, which proves that the peers have read the same values.
package enum Checksum {
    @inlinable
    package static func of(
        _ i0: Int, _ i1: Int, _ i2: Int, _ i3: Int, _ i4: Int, _ i5: Int, _ i6: Int, _ i7: Int, _ i8: Int, _ i9: Int
    ) -> Int {
        i0 &+ 2 &* i1 &+ 3 &* i2 &+ 4 &* i3 &+ 5 &* i4 &+ 6 &* i5 &+ 7 &* i6 &+ 8 &* i7 &+ 9 &* i8 &+ 10 &* i9
    }

    @inlinable
    package static func of(_ strings: [String]) -> Int {
        strings.reduce(0) { $0 &+ $1.utf8.count } &+ strings.count
    }

    @inlinable
    package static func of(_ values: [Int]) -> Int {
        values.reduce(0, &+) &+ values.count
    }

    @inlinable
    package static func of(_ values: [Int64?]) -> Int {
        values.reduce(0) { $0 &+ Int($1 ?? -1) } &+ values.count
    }

    @inlinable
    package static func of(_ dates: [Date]) -> Int {
        dates.reduce(0) { $0 &+ Int($1.timeIntervalSinceReferenceDate * 2) } &+ dates.count
    }

    @inlinable
    package static func of(_ uuids: [UUID]) -> Int {
        uuids.reduce(0) { $0 &+ Int($1.uuid.0) &+ Int($1.uuid.15) } &+ uuids.count
    }

    /// Every thousandth number counts: making an integer of one takes longer than reading it.
    @inlinable
    package static func of(_ decimals: [Decimal]) -> Int {
        stride(from: 0, to: decimals.count, by: 1_000)
            .reduce(decimals.count) { $0 &+ NSDecimalNumber(decimal: decimals[$1] * 100).intValue }
    }

    @inlinable
    package static func of(_ blobs: [Data]) -> Int {
        blobs.reduce(0) { $0 &+ $1.count &+ Int($1[63]) } &+ blobs.count
    }

    @inlinable
    package static func ofContact(
        id: Int64, name: String, email: String, score: Int, bonus: Double, teamId: Int64?
    ) -> Int {
        Int(id) &+ name.utf8.count &+ email.utf8.count &+ score &+ Int(bonus * 100) &+ Int(teamId ?? -1)
    }

    /// A player's: every column counts; a date by its whole seconds.
    @inlinable
    package static func ofPlayer(
        id: Int64, name: String, email: String, score: Int, bonus: Double, teamId: Int64?, createdAt: Double,
        avatarCount: Int?
    ) -> Int {
        Int(id) &+ name.utf8.count &+ email.utf8.count &+ score &+ Int(bonus * 100) &+ Int(teamId ?? -1)
            &+ Int(createdAt) &+ (avatarCount ?? -1)
    }
}
