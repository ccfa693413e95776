import QuarryCore

/// A collection that is decoded from the rows that were fetched besides another one.
protocol DecodableFromList {
    init(decoder: RowDecoder, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey) throws
}

extension Array: DecodableFromList where Element: Decodable {
    init(decoder: RowDecoder, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey) throws {
        self = try decoder.decodeList(Element.self, list, parent, at: key)
    }
}

extension ContiguousArray: DecodableFromList where Element: Decodable {
    init(decoder: RowDecoder, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey) throws {
        self.init(try decoder.decodeList(Element.self, list, parent, at: key))
    }
}

extension Set: DecodableFromList where Element: Decodable {
    init(decoder: RowDecoder, _ list: PrefetchedRowsOfKey, _ parent: Int, _ key: any CodingKey) throws {
        self.init(try decoder.decodeList(Element.self, list, parent, at: key))
    }
}
