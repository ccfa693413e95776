/// Inputs made of seeds and chance, for runs without libFuzzer.
public struct FuzzInputs<Generator: RandomNumberGenerator> {
    private var generator: Generator
    private let seeds: [[UInt8]]

    /// Inputs for a target.
    public init(_ target: FuzzTarget, using generator: Generator) {
        self.generator = generator
        seeds = target.seeds
    }

    /// A seed, or two, with some bytes changed, left out, or written twice.
    public mutating func next() -> [UInt8] {
        var bytes = seeds.randomElement(using: &generator) ?? []
        if Int.random(in: 0..<4, using: &generator) == 0 {
            let other = seeds.randomElement(using: &generator) ?? []
            bytes.insert(contentsOf: other, at: Int.random(in: 0...bytes.count, using: &generator))
        }
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 0...6, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 4 where place < bytes.count:
                // Characters that mean something somewhere, and digits.
                bytes[place] = Array("0123456789-:.+ TZeE'\"`[];?:@$/*\n\0".utf8).randomElement(using: &generator) ?? 0
            default: break
            }
        }
        return bytes
    }
}

extension FuzzInputs: Sendable where Generator: Sendable {}
