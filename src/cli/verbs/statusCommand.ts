/** `perpd status`: what the running daemon says about itself, asked at its control port. */

import { exitCodes } from '../../config/exit.ts'
import type { Call } from '../call/command.ts'
import { queryAlive, queryStatus, StandbyWaits } from '../call/daemonClient.ts'
import { standbyText } from '../output/standbyText.ts'
import { statusText } from '../results/statusText.ts'

/** Prints whether the daemon does its work, for probes. Exit code 0 when it does, 1 when not, 3 when no daemon answers. */
export async function alive({ loaded, flags, out }: Call): Promise<number> {
  const verdict = await queryAlive(loaded)
  if (flags.has('json')) out(JSON.stringify(verdict, undefined, 2))
  else out(verdict.ok ? 'alive' : `not alive: ${verdict.reasons.join('; ')}`)
  return verdict.ok ? exitCodes.ok : exitCodes.error
}

/** Prints the daemon's status, as text or with `--json`; of one that waits for its journal, for whom. Exit code 3 when no daemon answers. */
export async function status({ loaded, flags, width, out }: Call): Promise<number> {
  const show = <Body>(body: Body, text: (body: Body) => string): number => {
    out(flags.has('json') ? JSON.stringify(body, undefined, 2) : text(body))
    return exitCodes.ok
  }
  try {
    return show(await queryStatus(loaded), (body) => statusText(body, width))
  } catch (error) {
    if (!(error instanceof StandbyWaits)) throw error
    return show(error.standby, standbyText)
  }
}
