import ArgumentParser
import PackageCatalog

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the catalogue into one file, while imports go on.",
        discussion: """
            The copy has the last committed batch. It is checked, and has its name when it is complete: after an error \
            (exit status 1) or Ctrl-C (130) there is no file, or the one that was there before.
            """)

    @OptionGroup
    var catalogue: DatabaseOption

    @Argument(
        help: ArgumentHelp(
            "The file to make, or a folder.",
            discussion: "In a folder the backup is named by the catalogue and the time.", valueName: "target"))
    var target: String

    @Flag(help: "Replace a file that exists.")
    var replace = false

    @Option(
        help: ArgumentHelp(
            "Number of backups that a folder keeps.",
            discussion: "Removes older ones, but never the newest that passes a check. Default: all.", valueName: "n"))
    var keep: Int?

    func validate() throws {
        try check([("keep", keep ?? 1, 1)])
        try catalogue.requireFile(instead: "quarry-node backup copies the database into a file")
    }

    func run() async throws {
        let backup = CatalogBackup(
            database: catalogue.database, target: target, replacesExisting: replace, keptCount: keep,
            console: .standard)
        try await endingOnInterrupt { await backup.run() }
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the catalogue by a backup.",
        discussion: """
            The backup is checked first. Other processes may have the catalogue open: they wait, and then see the \
            content of the backup. After an error (exit status 1) or Ctrl-C (130) the catalogue is as it was.
            """)

    @OptionGroup
    var catalogue: DatabaseOption

    @Argument(
        help: ArgumentHelp(
            "A backup, or a folder of backups.",
            discussion: "Of a folder, the newest backup of the catalogue that passes a check.", valueName: "source"))
    var source: String

    func validate() throws {
        try catalogue.requireFile(instead: "import the control files into a new --database-name")
    }

    func run() async throws {
        let restore = CatalogRestore(database: catalogue.database, source: source, console: .standard)
        try await endingOnInterrupt { await restore.run() }
    }
}

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Look for damage in the catalogue's file.",
        discussion: "The exit status is 0 if nothing is found, and 1 if there are problems, or after an error.")

    @OptionGroup
    var catalogue: DatabaseOption

    @Flag(help: "Don't compare indexes with their tables.")
    var quick = false

    func validate() throws {
        try catalogue.requireFile(instead: "check the file that quarry-node backup makes")
    }

    func run() async throws {
        let check = CatalogCheck(database: catalogue.database, isQuick: quick, console: .standard)
        try await endingOnInterrupt { await check.run() }
    }
}

struct SalvageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage", abstract: "Save what can be read of a damaged catalogue into a new file.",
        discussion: """
            Every row on an undamaged page is saved. The damaged file is only read; no process may write it meanwhile. \
            Prints what was saved and lost. The exit status is 0 if nothing was lost, and 1 if something was, or after \
            an error.
            """)

    @Argument(help: ArgumentHelp("The damaged file.", valueName: "damaged"))
    var damaged: String

    @Argument(help: ArgumentHelp("The new file, which must not exist.", valueName: "target"))
    var target: String

    func run() async throws {
        let salvage = CatalogSalvage(damaged: damaged, target: target, console: .standard)
        try await endingOnInterrupt { await salvage.run() }
    }
}
