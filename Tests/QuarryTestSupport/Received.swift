/// The values and errors of an observation, in order.
public final class Received<Value: Sendable>: Sendable {
    private let state = Recorded<(values: [Value], errors: [any Error])>(([], []))

    public init() {}

    public var values: [Value] { state.value.values }
    public var errors: [any Error] { state.value.errors }

    public var onChange: @Sendable (Value) -> Void { { value in self.state.update { $0.values.append(value) } } }
    public var onError: @Sendable (any Error) -> Void { { error in self.state.update { $0.errors.append(error) } } }

    public func value(_ count: Int) async throws -> [Value] {
        try await until("\(count) values") { values.count >= count }
        return values
    }

    public func error() async throws -> any Error {
        try await until("an error") { !errors.isEmpty }
        return errors[0]
    }
}
