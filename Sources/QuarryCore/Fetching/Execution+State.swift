extension Execution {
    /// The progress of an execution: a number, because each step compares it with that of the statement's execution.
    ///
    /// ```
    ///  unbegun ──▶ stepping ──▶ ended
    ///      │         │ ▲  │
    ///  buffered ─────┘ │  ├───▶ failed
    ///      ▲───────────┘  │
    /// ```
    @usableFromInline
    struct State: Equatable {
        /// The number of the statement's execution; not negative while steps are taken.
        @usableFromInline
        let number: Int

        @inlinable
        @inline(__always)
        init(number: Int) { self.number = number }

        /// Steps are taken as long as the statement's current execution has that number.
        @inlinable
        @inline(__always)
        static func stepping(_ id: Int) -> State { State(number: id) }

        /// The last row has been returned.
        static var ended: State { State(number: -1) }

        /// No step has been taken: the first step checks whether the current thread has the connection.
        static var unbegun: State { State(number: -2) }

        /// An error has ended the execution, and was thrown.
        static var failed: State { State(number: -3) }

        /// All rows are read before the first is returned.
        static var buffered: State { State(number: -4) }

        @inlinable
        @inline(__always)
        static func == (lhs: State, rhs: State) -> Bool { lhs.number == rhs.number }
    }
}
