public import Foundation
public import Hummingbird

/// The context of a request: JSON is written with sorted keys, and without escaped slashes.
public struct CatalogRequestContext: RequestContext {
    public var coreContext: CoreRequestContextStorage

    public init(source: Source) { coreContext = .init(source: source) }

    public var responseEncoder: JSONEncoder { .catalog }
}

extension JSONEncoder {
    static var catalog: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
