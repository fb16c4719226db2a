/** The files that the embedded venue begins with. Only what serves or checks a venue imports this file, and on demand. */
import { BaseError } from '../../base/errors.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { loadCatalog } from '../../paper/catalog/catalog.ts'
import { loadReplay, type PriceReplay } from '../../paper/catalog/replayFile.ts'
import { loadScenario, readFaults, type ScenarioStep } from '../../paper/server/scenario.ts'

/** The contents of the files. */
export interface VenueFiles {
  readonly scenario: readonly ScenarioStep[]
  readonly replay: PriceReplay | undefined
}

/** Reads all of them. Throws BaseError for a file, and CommandError for faults that cannot be read. */
export function readVenueFiles(config: Config): VenueFiles {
  return { scenario: scenarioOf(config), replay: replayOf(config) }
}

/** The faults that keep a venue from starting with them, a text each; none where the configuration embeds no venue. */
export function venueFileProblems(config: Config): readonly string[] {
  if (!config.embedsVenue) return []
  return [scenarioOf, replayOf].flatMap((read) => {
    try {
      read(config)
      return []
    } catch (error) {
      if (error instanceof BaseError || error instanceof CommandError) return [error.message]
      throw error
    }
  })
}

function scenarioOf({ paper }: Config): readonly ScenarioStep[] {
  const steps = paper.faults === undefined ? [] : readFaults(paper.faults)
  if (typeof steps === 'string') {
    throw new CommandError(
      `paper.faults cannot be used: ${steps}.\n  Nothing was started. docs/paper-venue.md shows the switches and rules.`,
      exitCodes.configuration,
    )
  }
  return [...steps, ...(paper.scenario === undefined ? [] : loadScenario(paper.scenario))]
}

function replayOf({ paper }: Config): PriceReplay | undefined {
  if (paper.replayFile === undefined) return undefined
  const tokens = paper.chains.flatMap((chain) => {
    const catalog = loadCatalog(chain.name)
    const priced = new Set(catalog.samplePrices.map(({ address }) => address))
    return catalog.tokens.filter(({ address }) => priced.has(address))
  })
  return loadReplay(paper.replayFile, paper.speed, tokens)
}
