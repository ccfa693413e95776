/// The arguments of a statement's next executions, and whether SQLite has them.
///
/// `give`, `giveIntegers` and `forget` set the arguments, after which nothing is bound. `didBind` says that their
/// values are bound.
struct BoundArguments {
    enum Form: Equatable {
        /// `given`, not yet compared with the parameters.
        case given
        /// `given`, whose values for the parameters are `checkedValues`.
        case checked
        /// Integers alone, one for each parameter; `given` belongs to an earlier execution.
        case integers(named: Bool)
    }

    private(set) var form: Form

    /// Whether SQLite has the values, so that an execution needn't bind them.
    private(set) var isBound: Bool

    private(set) var given = StatementArguments()

    /// A value for each parameter, if the form is `checked`; empty otherwise.
    private(set) var checkedValues: [DatabaseValue] = []

    /// Storage for integers, and the names that integers are compared with.
    var integers = IntegerArguments()

    /// Begins without arguments. A statement without parameters needs none.
    init(parameterCount: Int) {
        form = parameterCount == 0 ? .checked : .given
        isBound = parameterCount == 0
    }

    /// Whether the arguments are the values already, one for each parameter.
    @inline(__always)
    func areValues(parameterCount: Int) -> Bool {
        form == .given && given.isPositional && given.values.count == parameterCount
    }

    // MARK: - Transitions

    /// Sets arguments that may not fit the parameters.
    @inline(__always)
    mutating func give(_ arguments: StatementArguments) {
        given = arguments
        becomeGiven()
    }

    /// Sets arguments whose values for the parameters are known.
    mutating func give(_ arguments: StatementArguments, values: [DatabaseValue]) {
        given = arguments
        check(values)
        isBound = false
    }

    /// Sets as many integers as there are parameters.
    ///
    /// - returns: the storage of the integers, for the caller to fill.
    @inline(__always)
    mutating func giveIntegers(named: Bool, count: Int) -> UnsafeMutableBufferPointer<Int64> {
        becomeGiven()
        form = .integers(named: named)
        return integers.makeRoom(count)
    }

    /// Sets no arguments: the next execution binds its parameters itself, or needs new arguments.
    @inline(__always)
    mutating func forget() {
        if !given.isEmpty { given = StatementArguments() }
        becomeGiven()
    }

    /// Keeps the values that `given` has for the parameters.
    mutating func check(_ values: [DatabaseValue]) {
        checkedValues = values
        form = .checked
    }

    /// Notes that SQLite has the values, for any number of executions.
    @inline(__always)
    mutating func didBind() { isBound = true }

    /// Notes that SQLite does not have all values.
    mutating func didNotBind() { isBound = false }

    @inline(__always)
    private mutating func becomeGiven() {
        if form == .checked { checkedValues = [] }
        form = .given
        isBound = false
    }
}
