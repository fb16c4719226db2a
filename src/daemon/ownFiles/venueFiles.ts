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
export async function readVenueFiles(config: Config): Promise<VenueFiles> {
  return { scenario: scenarioOf(config), replay: await replayOf(config) }
}

/** The faults that keep a venue from starting with them, a text each; none where the configuration embeds no venue. */
export async function venueFileProblems(config: Config): Promise<readonly string[]> {
  if (!config.embedsVenue) return []
  const problems: string[] = []
  for (const read of [scenarioOf, replayOf]) {
    try {
      await read(config)
    } catch (error) {
      if (!(error instanceof BaseError || error instanceof CommandError)) throw error
      problems.push(error.message)
    }
  }
  return problems
}

function scenarioOf({ paper }: Config): readonly ScenarioStep[] {
  const steps = paper.faults === undefined ? [] : readFaults(paper.faults)
  if (typeof steps === 'string') {
    throw new CommandError(
      `paper.faults cannot be used: ${steps}.\n  Nothing was started. docs/reference/paper-venue.md shows the switches and rules.`,
      exitCodes.configuration,
    )
  }
  return [...steps, ...(paper.scenario === undefined ? [] : loadScenario(paper.scenario))]
}

async function replayOf({ paper }: Config): Promise<PriceReplay | undefined> {
  if (paper.replayFile === undefined) return undefined
  const tokens = paper.chains.flatMap((chain) => {
    const catalog = loadCatalog(chain.name)
    const priced = new Set(catalog.samplePrices.map(({ address }) => address))
    return catalog.tokens.filter(({ address }) => priced.has(address))
  })
  return await loadReplay(paper.replayFile, paper.speed, tokens)
}
