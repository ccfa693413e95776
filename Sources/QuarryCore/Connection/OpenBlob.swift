/// The part of a blob that its connection keeps until the access ends: a blob may lose its last reference on another
/// thread.
final class OpenBlob {
    var handle: BlobHandle?
    var hasWritten = false

    init(_ handle: consuming BlobHandle) { self.handle = consume handle }

    static func name(_ schema: String, _ table: String, _ column: String, _ rowID: Int64) -> String {
        "\(schema).\(table).\(column) of row \(rowID)"
    }
}
