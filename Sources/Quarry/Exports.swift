@_exported public import QuarryAccess
@_exported public import QuarryCore
@_exported public import QuarryRecords
@_exported public import QuarrySQL
