/// The arguments of a statement's next executions, and whether SQLite has them.
///
/// Arguments are given by `give`, `giveIntegers` or `forget`, after which nothing is bound; `didBind` says that their
/// values are.
struct BoundArguments {
    enum Form: Equatable {
        /// `given`, which hasn't been compared with the parameters.
        case given
        /// `given`, which gives the parameters `checkedValues`.
        case checked
        /// Integers alone, one for each parameter; `given` is of an earlier execution.
        case integers(named: Bool)
    }

    private(set) var form: Form

    /// Whether SQLite has the values: an execution needn't bind them.
    private(set) var isBound: Bool

    private(set) var given = StatementArguments()

    /// A value for each parameter, where the form is `checked`; empty otherwise.
    private(set) var checkedValues: [DatabaseValue] = []

    /// Room for integers, and the names they are compared with.
    var integers = IntegerArguments()

    /// No arguments. A statement without parameters has all it needs.
    init(parameterCount: Int) {
        form = parameterCount == 0 ? .checked : .given
        isBound = parameterCount == 0
    }

    /// Whether the arguments are the values, one for each parameter.
    @inline(__always)
    func areValues(parameterCount: Int) -> Bool {
        form == .given && given.isPositional && given.values.count == parameterCount
    }

    // MARK: - Transitions

    /// Gives arguments that may not fit the parameters.
    @inline(__always)
    mutating func give(_ arguments: StatementArguments) {
        given = arguments
        becomeGiven()
    }

    /// Gives arguments whose values are known: one for each parameter.
    mutating func give(_ arguments: StatementArguments, values: [DatabaseValue]) {
        given = arguments
        check(values)
        isBound = false
    }

    /// Gives as many integers as there are parameters.
    ///
    /// - returns: room for them, to be filled.
    @inline(__always)
    mutating func giveIntegers(named: Bool, count: Int) -> UnsafeMutableBufferPointer<Int64> {
        becomeGiven()
        form = .integers(named: named)
        return integers.makeRoom(count)
    }

    /// Gives no arguments: the next execution binds its parameters itself, or must be given some.
    @inline(__always)
    mutating func forget() {
        if !given.isEmpty { given = StatementArguments() }
        becomeGiven()
    }

    /// Notes the values that `given` was found to give.
    mutating func check(_ values: [DatabaseValue]) {
        checkedValues = values
        form = .checked
    }

    /// SQLite has the values, for any number of executions.
    @inline(__always)
    mutating func didBind() { isBound = true }

    /// SQLite has not got all values.
    mutating func didNotBind() { isBound = false }

    @inline(__always)
    private mutating func becomeGiven() {
        if form == .checked { checkedValues = [] }
        form = .given
        isBound = false
    }
}
