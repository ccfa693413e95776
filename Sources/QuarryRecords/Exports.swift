@_exported public import QuarryCore
@_exported public import QuarrySQL
