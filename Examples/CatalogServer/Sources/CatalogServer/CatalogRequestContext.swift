public import Foundation
public import Hummingbird
internal import NIOCore

/// The context of a request: JSON is written with sorted keys, and without escaped slashes.
public struct CatalogRequestContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The connection, to close it for a client that doesn't read.
    let channel: any Channel

    public init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    public var responseEncoder: JSONEncoder { .catalog }
}

extension JSONEncoder {
    static var catalog: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
