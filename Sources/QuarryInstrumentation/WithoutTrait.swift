#if !(Instrumentation || AllButTLS)
#if QUARRY_IS_DEPENDENCY
#error("add traits: [\"Instrumentation\"] to the dependency on Quarry")
#endif

// The types of this module when the trait isn't enabled, for packages that depend on a folder.

/// Runs and closes databases, with the trait `Instrumentation`.
@available(*, unavailable, message: "add traits: [\"Instrumentation\"] to the dependency on Quarry")
public struct DatabaseService { public init(_ arguments: Any...) {} }

/// Logs, with the trait `Instrumentation`.
@available(*, unavailable, message: "add traits: [\"Instrumentation\"] to the dependency on Quarry")
public struct LoggingTracer { public init(_ arguments: Any...) {} }

/// Gives memory back, with the trait `Instrumentation`.
@available(*, unavailable, message: "add traits: [\"Instrumentation\"] to the dependency on Quarry")
public struct MemoryPressureMonitor { public init(_ arguments: Any...) {} }

/// Measures, with the trait `Instrumentation`.
@available(*, unavailable, message: "add traits: [\"Instrumentation\"] to the dependency on Quarry")
public struct MetricsTracer { public init(_ arguments: Any...) {} }

/// Reports statistics, with the trait `Instrumentation`.
@available(*, unavailable, message: "add traits: [\"Instrumentation\"] to the dependency on Quarry")
public struct StatisticsReporter { public init(_ arguments: Any...) {} }

/// Traces, with the trait `Instrumentation`.
@available(*, unavailable, message: "add traits: [\"Instrumentation\"] to the dependency on Quarry")
public struct TracingTracer { public init(_ arguments: Any...) {} }
#endif
